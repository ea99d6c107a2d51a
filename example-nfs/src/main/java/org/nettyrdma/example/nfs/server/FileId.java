package org.nettyrdma.example.nfs.server;

/**
 * Which file this is, whatever its names are.
 *
 * @param device     number of the file system, 0 for that of the export where generations tell its files from those of others
 * @param inode      number of the file in it
 * @param generation tells apart files that had the same number one after the other; 0 where that is not known
 */
record FileId(long device, long inode, int generation) {
}
