import type { ErrorCode } from '../../domain/errors.ts'

/** Why a run was told to stop: the reason of its abort signal. */
export type Stop =
  | { kind: 'cancelled'; by: string }
  /** A limit was reached or the server could not go on; the run ends with RUN_ERROR. */
  | { kind: 'failed'; code: ErrorCode; message: string }
  /** The server is stopping and the run may go on later: it is given back as it is. */
  | { kind: 'suspended' }

export const stopOf = (signal: AbortSignal): Stop | null => (signal.aborted ? (signal.reason as Stop) : null)
