/**
 * The command line {@code example-nfs/nfs}. Enter through {@link org.nettyrdma.example.nfs.cli.NfsCommand}; each command is a
 * class that runs on the main thread and waits for what it does.
 */
package org.nettyrdma.example.nfs.cli;
