import type { ErrorCode } from '../domain/errors.ts'

/** Exit codes. `docs/look-up/cli.md` lists the same ones. The numbers follow sysexits.h where it has one. */
export const exitCodes = {
  ok: { code: 0, meaning: 'done; `serve`: stopped as requested' },
  failed: {
    code: 1,
    meaning: 'the command ran and found a failure (a failed check, test case or run, a broken audit trail)',
  },
  usage: { code: 2, meaning: 'a wrong flag, argument, setting or agent file, or nothing to do (no test cases)' },
  damaged: { code: 65, meaning: 'the database, a stored file or a backup is damaged' },
  unavailable: { code: 69, meaning: 'the port is taken, or the server cannot be reached' },
  internal: { code: 70, meaning: 'a bug in Quarterdeck; everything that was acknowledged is stored' },
  cannotCreate: {
    code: 73,
    meaning:
      'a file or folder cannot be used: the data directory is locked, or of another version, `init`, `backup` or `restore` would overwrite',
  },
  disk: { code: 74, meaning: 'the disk is full or fails' },
  interrupted: {
    code: 130,
    meaning: 'Ctrl-C (SIGINT) ended it early; `serve`: before it was ready, or with a second Ctrl-C',
  },
  terminated: {
    code: 143,
    meaning: 'SIGTERM ended it early; `serve`: before it was ready, or with a second SIGTERM',
  },
} as const

const byErrorCode: Partial<Record<ErrorCode | 'unreachable', number>> = {
  invalid_request: exitCodes.usage.code,
  config_invalid: exitCodes.usage.code,
  agent_not_found: exitCodes.usage.code,
  malformed_id: exitCodes.usage.code,
  unreachable: exitCodes.unavailable.code,
  not_ready: exitCodes.unavailable.code,
  shutting_down: exitCodes.unavailable.code,
  data_dir_locked: exitCodes.cannotCreate.code,
  data_dir_newer: exitCodes.cannotCreate.code,
  data_dir_older: exitCodes.cannotCreate.code,
  data_dir_damaged: exitCodes.damaged.code,
  storage_full: exitCodes.disk.code,
  storage_failed: exitCodes.disk.code,
  internal_error: exitCodes.internal.code,
}

const isKnown = (code: string): code is keyof typeof byErrorCode => Object.hasOwn(byErrorCode, code)

/** Of an error here, or of one that a server answered. */
export const exitCodeOf = (code: ErrorCode | (string & {})): number =>
  (isKnown(code) ? byErrorCode[code] : undefined) ?? exitCodes.failed.code
