package org.nettyrdma.example.nfs.server;

import org.nettyrdma.example.nfs.protocol.NfsProcedure;

/**
 * What was counted for one procedure.
 *
 * @param procedure     the procedure
 * @param calls         calls executed; repeated calls that were answered from the cache of replies are not among them
 * @param errors        those of them whose status was not {@code NFS3_OK}
 * @param argumentBytes bytes of their arguments, data of WRITE included
 * @param resultBytes   bytes of their results, data of READ included
 * @param nanos         nanoseconds that they took, from the arguments to the results
 */
public record ProcedureStatistics(NfsProcedure procedure, long calls, long errors, long argumentBytes, long resultBytes,
                                  long nanos) {
}
