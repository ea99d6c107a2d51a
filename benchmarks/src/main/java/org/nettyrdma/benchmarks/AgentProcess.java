package org.nettyrdma.benchmarks;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.benchmarks.Agent.Action;
import org.nettyrdma.benchmarks.Agent.Answer;
import org.nettyrdma.benchmarks.Agent.Request;

/**
 * A process of one peer, with one of its ends or both. Not thread safe.
 */
final class AgentProcess implements AutoCloseable {

    private static final int STOP_SECONDS = 10;

    private final Gson gson = new Gson();
    private final Process process;
    private final PrintWriter requests;
    private final BufferedReader output;
    private Action told;

    private AgentProcess(Process process) {
        this.process = process;
        requests = new PrintWriter(process.getOutputStream(), false, StandardCharsets.UTF_8);
        output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /**
     * Starts this program again as an {@link Agent}.
     *
     * @param environment more environment variables
     * @param oneCpu      whether it may use the first CPU only
     * @param jvmOptions  more options for its JVM
     */
    static AgentProcess start(Map<String, String> environment, boolean oneCpu, List<String> jvmOptions) throws IOException {
        List<String> command = new ArrayList<>();
        if (oneCpu) {
            command.addAll(List.of("taskset", "-c", "0"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(memoryAccess());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Agent.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        return new AgentProcess(builder.start());
    }

    /** What this JVM was told about access to memory by addresses, on which newer JDKs need to be told. */
    private static List<String> memoryAccess() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.matches("--(sun-misc-unsafe-memory-access|enable-native-access)=.*")).toList();
    }

    /** Starts the server; returns its port. */
    int serve(Setup setup) throws IOException {
        return (int) ask(new Request(Action.SERVE, setup, 0, 0, null, 0)).value();
    }

    Answer connect(Setup setup, int port, int connections) throws IOException {
        return ask(new Request(Action.CONNECT, setup, port, connections, null, 0));
    }

    Answer run(Action action, Load load, long durationNanos) throws IOException {
        return ask(new Request(action, null, 0, 0, load, durationNanos));
    }

    Answer ask(Action action) throws IOException {
        return run(action, null, 0);
    }

    /** Begins an action; {@link #answer} has to follow before anything else. */
    void tell(Action action, Load load, long durationNanos) {
        tell(new Request(action, null, 0, 0, load, durationNanos));
    }

    private void tell(Request request) {
        told = request.action();
        requests.println(gson.toJson(request));
        requests.flush();
    }

    private Answer ask(Request request) throws IOException {
        tell(request);
        return answer();
    }

    /** Waits for the end of what was begun. */
    Answer answer() throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (!line.startsWith(Agent.ANSWER_PREFIX)) {
                System.err.println(line);
                continue;
            }
            Answer answer = gson.fromJson(line.substring(Agent.ANSWER_PREFIX.length()), Answer.class);
            if (answer.failure() == null) {
                return answer;
            }
            if (answer.unavailable()) {
                throw new PeerUnavailableException(answer.failure());
            }
            throw new IOException(told + " failed: " + answer.failure());
        }
        throw new IOException("a process ended at " + told);
    }

    @Override
    public void close() {
        try {
            requests.close(); // the end of its input tells it to stop
            process.onExit().orTimeout(STOP_SECONDS, TimeUnit.SECONDS).join();
        } catch (CompletionException e) {
            process.destroyForcibly();
        }
    }
}
