/**
 * The demonstration behind {@code nfs demo}: {@link org.nettyrdma.example.nfs.demo.Demo} copies a tree to a server and back,
 * compares, and reports. It runs on the thread of its caller.
 */
package org.nettyrdma.example.nfs.demo;
