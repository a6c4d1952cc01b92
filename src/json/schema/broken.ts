import { ServerError } from '../../domain/errors.ts'

/** For what is not a JSON Schema. `detail` is a sentence, or two with what to write instead; `pointer` is '' for the schema as a whole. */
export const broken = (pointer: string, detail: string): ServerError =>
  new ServerError(
    'config_invalid',
    `This JSON Schema cannot be used: ${pointer === '' ? '' : `${pointer}: `}${detail}`,
    {
      problems: [{ pointer, detail }],
    },
  )
