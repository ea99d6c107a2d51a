/**
 * The other end of programs in C that speak a byte stream, for {@code interop/run stream}.
 */
package org.nettyrdma.testing.stream;
