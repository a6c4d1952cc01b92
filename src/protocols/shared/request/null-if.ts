import { type ErrorCode, ServerError } from '../../../domain/errors.ts'

/** For `catch`: null for these errors. Every other one is thrown on. */
export const nullIf =
  (...codes: readonly ErrorCode[]) =>
  (error: unknown): null => {
    if (error instanceof ServerError && codes.includes(error.code)) return null
    throw error
  }
