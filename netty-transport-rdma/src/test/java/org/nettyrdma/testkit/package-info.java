/**
 * The test kit for providers. Extend {@link org.nettyrdma.testkit.VerbsContract} for the provider alone and
 * {@link org.nettyrdma.testkit.RdmaTransportContract} for channels above it, each with one method. It needs JUnit Jupiter and
 * nothing else of this project's tests.
 */
package org.nettyrdma.testkit;
