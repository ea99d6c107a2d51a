/**
 * A map of requests in progress, which the gate and the layers above it share. It belongs to one event loop. The package is
 * exported to the modules of this project only.
 */
package org.nettyrdma.handler.credit.support;
