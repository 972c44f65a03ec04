import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.List;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** One OpenSearch node on a free port of the loopback; it ends with its standard input. */
public class Launcher extends Node {
    Launcher(Environment environment, Collection<Class<? extends Plugin>> plugins) {
        super(environment, plugins, false);
    }

    /** Takes the node's folder; writes the port into the file `port` there once it is open. */
    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]);
        Settings settings = Settings.builder()
            .put("path.home", home.toString())
            .put("cluster.name", "plumbline-tests")
            .put("node.name", "only")
            .put("node.processors", 2)
            .put("discovery.type", "single-node")
            .put("http.host", "127.0.0.1").put("http.port", "0").put("http.type", "netty4")
            .put("transport.host", "127.0.0.1").put("transport.port", "0").put("transport.type", "netty4")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .put("action.auto_create_index", false)
            .build();
        List<Class<? extends Plugin>> plugins = List.of(
            Netty4Plugin.class, CommonAnalysisPlugin.class, PainlessPlugin.class, KNNPlugin.class);
        try (Node node = new Launcher(new Environment(settings, home.resolve("config")), plugins)) {
            node.start();
            int port = node.injector().getInstance(HttpServerTransport.class)
                .boundAddress().publishAddress().getPort();
            Path written = Files.writeString(home.resolve("port.new"), String.valueOf(port));
            Files.move(written, home.resolve("port"), StandardCopyOption.ATOMIC_MOVE);
            while (System.in.read() != -1) { }
        }
        System.exit(0);
    }
}
