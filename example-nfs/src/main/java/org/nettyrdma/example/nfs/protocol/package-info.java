/**
 * The types of NFS version 3 and MOUNT version 3 (RFC 1813) and their XDR, for client and server alike.
 *
 * <p>The entry classes are {@link org.nettyrdma.example.nfs.protocol.NfsProcedure}, which names the procedures, and
 * {@link org.nettyrdma.example.nfs.protocol.FileHandle}, which all of them start from. Every type with a wire form has a
 * static {@code read(ByteBuf)}, which throws {@link org.nettyrdma.codec.oncrpc.XdrException} where the bytes are not
 * well-formed. What is more than a code is a {@link org.nettyrdma.example.nfs.protocol.WireForm}, which writes itself.
 * Arguments are records named after their procedure; results are written and read piece by piece, because each begins with a
 * status and has a form of its own for failures. Optional pieces are {@code null} where they are absent. Everything here is
 * immutable and may be used on any thread, except that {@link org.nettyrdma.example.nfs.protocol.WriteArguments} shows the
 * buffer it was given.
 */
package org.nettyrdma.example.nfs.protocol;
