/**
 * An NFS version 3 and MOUNT version 3 server (RFC 1813) on any {@link java.nio.file.FileSystem}.
 *
 * <p>The entry class is {@link org.nettyrdma.example.nfs.server.NfsService}: it takes an
 * {@link org.nettyrdma.example.nfs.server.Export} and gives two {@link org.nettyrdma.codec.oncrpc.RpcProgram}s, which know
 * no transport and may serve any number of connections at once.
 *
 * <h2>Threads</h2>
 * A call is executed on the thread that hands it over, and may block there for as long as the file system does. Eight
 * kinds of locks exist, and none is taken while another of the same kind is held:
 * <ul>
 * <li>The <em>name lock</em>, one per service, is shared by calls that use a path and exclusive to calls that change names or
 * attributes, so that between checking a path and using it no other call can put something else in its place. The table in
 * {@code ProcedureTable} says which procedure takes it how. READ, WRITE and COMMIT hold it only while they find and open the
 * file, not while they move data; alone where the mode of the file has to be another one to open it.</li>
 * <li>The <em>lease lock</em>, one per file, belongs to the call that waits until no other process has a lease of the file, which
 * may take long. No other lock is held when it is taken, nor taken with it.</li>
 * <li>The <em>lock of the contents</em>, one per file, is shared by WRITE while it moves data, and exclusive to SETATTR and to a
 * CREATE that sets the size of a file. It is taken before the name lock and never with it held, so that a WRITE that takes long
 * keeps nobody from the names of other files. Nor does who extends a file: that is done with this lock alone.</li>
 * <li>The <em>search lock</em>, one per service, belongs to the call that looks through the export. No other lock is held when
 * it is taken: a call that finds that it needs a search gives up its locks, and begins anew behind it. The name lock is taken
 * with it for a few names at a time.</li>
 * <li>The <em>force lock</em>, one per file or directory, is shared by calls that make it stable. No other lock is taken with
 * it.</li>
 * <li>The <em>listing lock</em>, one per directory, belongs to the call that reads it. It is taken with the name lock shared, and
 * none but monitors is taken with it.</li>
 * <li>Each cache (open files, directory listings, repeated calls, mounts) guards its map with its own monitor, held for no
 * I/O.</li>
 * <li>Each known file guards the set of its names with its own monitor, held for no I/O.</li>
 * </ul>
 */
package org.nettyrdma.example.nfs.server;
