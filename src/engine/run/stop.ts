import type { ErrorCode } from '../../domain/errors.ts'

/** Why a run was told to stop. It is the reason of the run's abort signal. */
export type Stop =
  | { kind: 'cancelled'; by: string }
  /** A limit was reached, or the server could not go on. The run ends with RUN_ERROR. */
  | { kind: 'failed'; code: ErrorCode; message: string }
  /** The server is stopping. The run is given back as it is, and goes on later. */
  | { kind: 'suspended' }

export const stopOf = (signal: AbortSignal): Stop | null => (signal.aborted ? (signal.reason as Stop) : null)
