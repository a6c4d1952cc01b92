// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// A text that is written in agent.yaml or in a file next to it: instructions, the template of a prompt.

import { resolve } from 'node:path'
import { z } from 'zod'
import { readText } from './config-files.ts'
import { inline } from './explain-issues.ts'
import type { Path } from './json-schema-node.ts'
import { type LoadContext, RELATIVE } from './load-context.ts'
import { key, text } from './schema-key.ts'

/** `name` is the key that holds the text, `what` is the word for it in messages. */
export const textOrFile = (name: string, what: string, example: string) =>
  z.union([
    text(),
    z
      .strictObject({
        inline: key(text().optional(), `The ${what}, written here.`, example),
        file: key(
          text().optional(),
          `Text file with the ${what}, relative to this file. Variables (\`\${…}\`) in it are not replaced.`,
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

type TextOrFile = z.infer<ReturnType<typeof textOrFile>>

export function readTextOrFile(from: TextOrFile, at: Path, { directory, files, report }: LoadContext): string {
  if (typeof from === 'string') return from
  if (from.file === undefined) return from.inline ?? ''
  const path = resolve(directory, from.file)
  const { text, problem } = readText(files, path)
  if (text === null) report([...at, 'file'], `${path}: ${problem}. ${RELATIVE}`)
  else if (text.trim() === '') report([...at, 'file'], `${path} is empty. Write the ${String(at.at(-1))} into it.`)
  return text ?? ''
}
