"""What keeps a turn whole: inbox, lock, journal, outbox and snapshot, on top of Table and Clock."""
