package org.nettyrdma.example.nfs.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.nettyrdma.verbs.VerbsProvider;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExecutionException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The command line: {@code nfs COMMAND ...}. */
@Command(
        name = "nfs",
        versionProvider = NfsVersion.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "NFS version 3 over RDMA and TCP: a server, a client and a demonstration.",
        subcommands = {ServeCommand.class, DemoCommand.class, LsCommand.class, CatCommand.class, GetCommand.class,
            PutCommand.class, StatCommand.class, MkdirCommand.class, RmCommand.class, PingCommand.class, DumpCommand.class},
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success",
            "1:the operation failed, or the demonstration found a difference",
            "2:wrong usage",
            "3:the server cannot be reached, or the connection to it was lost",
            "130:interrupted by SIGINT", "143:ended by SIGTERM"},
        footerHeading = "%nExamples:%n",
        footer = {
            "  nfs demo                                    show everything in one process",
            "  nfs serve --export /srv/data                serve a folder on port 20049",
            "  nfs put -r photos rdma://server/backup      copy a folder to a server",
            "  nfs ls -l tcp://[::1]:2049/backup           list it, this time over TCP",
            "",
            "An address is rdma://host[:port]/path or tcp://host[:port]/path, with port",
            "20049 or 2049 if none is given, and with IPv6 addresses in brackets.",
            "'nfs COMMAND --help' explains a command."})
public final class NfsCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, scope = ScopeType.INHERIT, description = "Show this help.")
    private boolean help;

    @Option(names = "--version", versionHelp = true, description = "Show the version.")
    private boolean version;

    @Option(names = "--verbose", scope = ScopeType.INHERIT,
            description = "Print a stack trace with errors, and what the libraries log.")
    private boolean verbose;

    /** Read when the first event loop asks for a provider, which is after the options were read. */
    @Option(names = "--provider", paramLabel = "NAME", scope = ScopeType.INHERIT, converter = ProviderConverter.class,
            description = {"What carries RDMA: iwarp (TCP), shm (shared memory, on one host), iwarp-shm (TCP, and to "
                    + "processes of this host shared memory), disni (a device), or another on the class path;",
                    "default: disni where there is a device, else iwarp-shm where /dev/shm has room, else iwarp; demo: iwarp "
                    + "for iwarp-shm."})
    private void useProvider(String name) {
        System.setProperty("org.nettyrdma.provider", name);
    }

    /** Does not ask the library, which looks for its providers once, and needs the name then. */
    static final class ProviderConverter implements ITypeConverter<String> {

        @Override
        public String convert(String value) {
            List<String> names = names();
            if (!names.contains(value)) {
                throw new TypeConversionException("'" + value + "' is none of " + String.join(", ", names));
            }
            return value;
        }

        private static List<String> names() {
            List<String> names = new ArrayList<>();
            var candidates = ServiceLoader.load(VerbsProvider.class).iterator();
            while (true) {
                try {
                    if (!candidates.hasNext()) {
                        return names;
                    }
                    names.add(candidates.next().name());
                } catch (ServiceConfigurationError e) {
                    // The library passes over a provider that cannot be loaded, too, and says so.
                }
            }
        }
    }

    /** Creates the command; picocli fills in its fields. */
    public NfsCommand() {
    }

    /**
     * Runs a command and ends the process with its exit code.
     *
     * @param arguments the command and its arguments
     */
    public static void main(String[] arguments) {
        if (List.of(arguments).contains("--verbose")) {
            // Before the first logger exists: it reads this only once.
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "info");
        }
        int exitCode = ExitCode.FAILED;
        try {
            StandardOutput output = new StandardOutput();
            CommandLine commandLine = newCommandLine().setOut(output.newWriter());
            exitCode = run(commandLine, output, CommandArguments.ofProcess(arguments));
        } catch (RuntimeException | Error e) {
            e.printStackTrace(); // what is for people could not be made of it
        } finally {
            Interruption.exit(exitCode);
        }
    }

    /** Nothing that could not be written was shown, whatever the command thinks. */
    private static int run(CommandLine commandLine, StandardOutput output, String[] arguments) {
        int exitCode = commandLine.execute(arguments);
        commandLine.getOut().flush();
        if (output.failure() == null || exitCode != ExitCode.OK) {
            return exitCode;
        }
        commandLine.getErr().println("nfs: " + ErrorMessage.of(new StandardOutput.Failure(output.failure())));
        return ExitCode.FAILED;
    }

    /**
     * Creates the command line; tests give it their own writers.
     *
     * @return a command line that prints errors as one line and returns the documented exit codes
     */
    public static CommandLine newCommandLine() {
        NfsCommand command = new NfsCommand();
        return new CommandLine(command)
                .registerConverter(Path.class, new PathConverter())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(NfsCommand::printUsageError)
                .setExecutionStrategy(NfsCommand::execute)
                .setExecutionExceptionHandler((exception, commandLine, parsed) -> command.printFailure(exception, commandLine));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }

    /** Makes exceptions of errors, which picocli tells no handler of: they would end the process with a stack trace. */
    private static int execute(ParseResult parsed) {
        try {
            return new RunLast().execute(parsed);
        } catch (Error e) {
            List<CommandLine> commands = parsed.asCommandLineList();
            throw new ExecutionException(commands.get(commands.size() - 1), e.toString(), e);
        }
    }

    private static int printUsageError(ParameterException exception, String[] arguments) {
        CommandLine commandLine = exception.getCommandLine();
        String command = commandLine.getCommandSpec().qualifiedName();
        commandLine.getErr().println(command + ": " + TerminalText.escape(ErrorMessage.firstLine(exception.getMessage()))
                + "; try '" + command + " --help'");
        return ExitCode.USAGE;
    }

    private int printFailure(Exception exception, CommandLine commandLine) {
        Throwable failure = exception instanceof ExecutionException ? exception.getCause() : exception;
        PrintWriter err = commandLine.getErr();
        commandLine.getOut().flush();
        err.println(commandLine.getCommandSpec().qualifiedName() + ": " + TerminalText.escape(ErrorMessage.of(failure)));
        if (verbose) {
            StringWriter trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            trace.toString().lines().forEach(line -> err.println(line.startsWith("\t")
                    ? '\t' + TerminalText.escape(line.substring(1))
                    : TerminalText.escape(line)));
        }
        err.flush();
        return ErrorMessage.exitCode(failure);
    }
}
