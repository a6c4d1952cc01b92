// A tool of the assistant: a function. It changes something, so a person is asked before it runs.

import { appendFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool } from 'quarterdeck'
import { z } from 'zod'

export const saveNote = defineTool({
  description: 'Adds a line to the notes.',
  parameters: z.object({ text: z.string().min(1).max(1_000).describe('The line to add.') }),
  async run({ text }) {
    const path = join(tmpdir(), 'quarterdeck-notes.txt')
    await appendFile(path, `${text}\n`)
    return `Added to ${path}`
  },
})
