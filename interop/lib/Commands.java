import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.example.nfs.cli.NfsCommand;

/**
 * Several commands of the example in one process, one after the other, each with its arguments behind "--": an emulated Java takes
 * longer to start than they do. It gets ready first, and begins at the end of standard input.
 */
final class Commands {

    private Commands() {
    }

    public static void main(String[] arguments) throws Exception {
        List<List<String>> commands = new ArrayList<>();
        for (String argument : arguments) {
            if (argument.equals("--")) {
                commands.add(new ArrayList<>());
            } else {
                commands.get(commands.size() - 1).add(argument);
            }
        }
        NfsCommand.newCommandLine().parseArgs(commands.get(0).toArray(String[]::new));
        System.in.readAllBytes();
        for (List<String> command : commands) {
            int status = NfsCommand.newCommandLine().execute(command.toArray(String[]::new));
            if (status != 0) {
                System.exit(status);
            }
        }
        System.exit(0);
    }
}
