// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// A text that stands in agent.yaml or in a file beside it: instructions, the template of a prompt.

import { z } from 'zod'
import { inline } from './explain-issues.ts'
import { key, text } from './schema-key.ts'

/** `name` is the key that holds it, `what` how the text is called. */
export const textOrFile = (name: string, what: string, example: string) =>
  z.union([
    text(),
    z
      .strictObject({
        inline: key(text().optional(), `The ${what} itself.`, example),
        file: key(
          text().optional(),
          `A text file with the ${what}, relative to this file. \`\${…}\` in it is left alone.`,
          `${name}.md`,
        ),
      })
      .superRefine((value, context) => {
        if ((value.inline === undefined) !== (value.file === undefined)) return
        const found = value.inline === undefined ? 'neither' : 'both'
        context.addIssue({
          code: 'custom',
          message: `expected exactly one of inline and file, found ${found}. Write e.g. ${name}: ${inline({ inline: example })}`,
        })
      }),
  ])

export type TextOrFile = z.infer<ReturnType<typeof textOrFile>>
