import { ServerError } from '../../domain/errors.ts'

/** `sentence` is written for people and does not name the file. */
export const unreadable = (sentence: string, cause?: unknown): ServerError =>
  new ServerError('file_unreadable', sentence, cause === undefined ? {} : { cause })

export const damaged = (cause?: unknown): ServerError =>
  unreadable('The file is damaged: open it in its own program, save it again and attach the new file.', cause)
