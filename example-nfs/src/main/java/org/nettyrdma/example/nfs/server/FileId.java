package org.nettyrdma.example.nfs.server;

/**
 * Which file this is, whatever its names are.
 *
 * @param device     number of the file system
 * @param inode      number of the file in it
 * @param generation tells apart files that had the same number one after the other; 0 where that is not known
 */
record FileId(long device, long inode, int generation) {
}
