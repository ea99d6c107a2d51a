/**
 * What the gate and the layers above it share: a map of requests in progress, writes that wait, and counts of what has waited.
 * The package is exported to the modules of this project only.
 */
package org.nettyrdma.handler.credit.support;
