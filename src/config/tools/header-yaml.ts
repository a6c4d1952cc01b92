// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import { z } from 'zod'
import { key } from '../source/schema-key.ts'

/** The key `headers` of tools that are reached over HTTP. */
export const headers = (description = 'Headers that are sent with every request.') =>
  key(
    z
      .record(
        z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/),
        // A line break would begin a header of its own.
        z
          .string()
          .regex(/^[\t\x20-\x7e\x80-\xff]*$/)
          .meta({ example: 'Bearer ${TOKEN}', expected: 'text on one line' }),
      )
      .optional(),
    description,
    { Authorization: 'Bearer ${TOKEN}' },
    'names of headers with text',
  )
