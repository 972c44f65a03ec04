/** The page's own words in Chinese and English. */

const TEXTS = {
  simulator: ["Simulator", "模拟器"],
  feishuLook: ["Feishu look", "飞书样式"],
  slackLook: ["Slack look", "Slack 样式"],
  platform: ["Platform", "平台"],
  actAs: ["You are", "当前身份"],
  switchPerson: ["Switch person", "切换人员"],
  inspector: ["API calls", "接口调用"],
  inspectorHint: ["Every call the bot made to this workspace", "机器人对本工作区发出的每一次调用"],
  noCalls: ["No calls yet. Ask the bot something.", "还没有调用，向机器人提个问题吧。"],
  organisation: ["Hengxing Robotics", "衡星机器人"],
  messages: ["Messages", "消息"],
  calendar: ["Calendar", "日历"],
  docs: ["Docs", "文档"],
  contacts: ["Contacts", "通讯录"],
  search: ["Search", "搜索"],
  apps: ["Apps", "应用"],
  channels: ["Channels", "频道"],
  direct: ["Direct messages", "私信"],
  bot: ["Bot", "机器人"],
  app: ["APP", "应用"],
  botAbout: ["Company knowledge assistant", "企业知识助手"],
  members: ["{n} members", "{n} 人"],
  topics: ["Topic group", "话题群"],
  writeTo: ["Message {name}", "发送给 {name}"],
  replyTo: ["Reply in thread", "回复话题"],
  send: ["Send", "发送"],
  addPicture: ["Add picture", "添加图片"],
  removePicture: ["Remove {name}", "移除 {name}"],
  mentionBot: ["Mention Plumbline", "提及 Plumbline"],
  mentionHint: ["In a group, mention @Plumbline to ask it.", "在群里 @Plumbline 即可提问。"],
  keys: ["Enter to send, Shift + Enter for a new line", "Enter 发送，Shift + Enter 换行"],
  thread: ["Thread", "话题"],
  closeThread: ["Close thread", "关闭话题"],
  closeInspector: ["Close API calls", "关闭接口调用"],
  replies: ["{n} replies", "{n} 条回复"],
  oneReply: ["1 reply", "1 条回复"],
  openThread: ["Open thread", "查看话题"],
  quote: ["Reply to {name}: {text}", "回复 {name}：{text}"],
  edited: ["(edited)", "（已编辑）"],
  deleted: ["This message was deleted", "此消息已被撤回"],
  onlyYou: ["Only visible to you", "仅你可见"],
  generating: ["Generating…", "正在生成…"],
  today: ["Today", "今天"],
  yesterday: ["Yesterday", "昨天"],
  welcome: ["Ask {name} anything the company wrote down", "公司写下来的，都可以问 {name}"],
  welcomeHint: [
    "Answers come with numbered sources, and only from what you may read. Try one of these:",
    "每个回答都附带编号来源，且只用你有权阅读的内容。不妨从这里开始：",
  ],
  welcomeGroup: ["Nothing here yet. Mention @Plumbline to ask it in front of everyone.", "这里还没有消息。@Plumbline 即可当众提问。"],
  tryNext: ["Ask next", "接着问"],
  picture: ["Picture", "图片"],
  back: ["Back to chats", "返回会话列表"],
  unread: ["{n} unread", "{n} 条未读"],
  sources: ["Chats", "会话"],
  failed: ["The simulator did not answer. Is it still running?", "模拟器没有响应，请确认它仍在运行。"],
  offline: ["Connection lost, trying again…", "连接已断开，正在重试…"],
  mention: ["Mention", "提及"],
  everyone: ["everyone", "所有人"],
};

/**
 * @param {"zh" | "en"} language
 * @returns {(key: keyof typeof TEXTS, values?: Record<string, string | number>) => string}
 */
export function texts(language) {
  const column = language === "zh" ? 1 : 0;
  return (key, values = {}) =>
    TEXTS[key][column].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}
