import { ServerError } from '../../domain/errors.ts'

/** A schema that is none. */
export const broken = (pointer: string, detail: string): ServerError =>
  new ServerError('config_invalid', `This JSON Schema cannot be used: ${pointer === '' ? 'it' : pointer} ${detail}.`, {
    problems: [{ pointer, detail }],
  })

export const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
