import { z } from 'zod'
import { SessionRowShape } from '../../shared/request/session-row.ts'

const { pending: _pending, tokens: _tokens, ...row } = SessionRowShape

const HitSchema = z.strictObject({
  message_id: z.string().nullable().describe('Null: the title or the prompt of an agent elsewhere.'),
  role: z.enum(['user', 'assistant', 'tool', 'title']),
  at: z.iso.datetime(),
  text: z.string().describe('The part of the text around what was found. Hidden characters are marked, as `<U+202E>`.'),
  marks: z
    .array(z.tuple([z.int().min(0), z.int().min(0)]))
    .describe('Where in `text` it was found: from and to, counted in UTF-16 units as JavaScript does.'),
})

export const SearchResultSchema = z.strictObject({
  session_id: z.string(),
  ...row,
  hits: z.array(HitSchema).describe('The title, and up to three messages, newest first.'),
})
export type SearchResult = z.output<typeof SearchResultSchema>

export const SearchSchema = z
  .strictObject({
    results: z.array(SearchResultSchema),
    complete: z.boolean().describe('False: older sessions are still being indexed. Search again later to find more.'),
  })
  .meta({
    example: {
      results: [
        {
          session_id: 'holiday',
          owner: 'ada',
          agent: 'assistant',
          title: 'Where to in May?',
          kind: 'chat',
          status: 'open',
          updated_at: '2026-11-15T09:00:02.125Z',
          hits: [
            {
              message_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
              role: 'assistant',
              at: '2026-11-15T09:00:02.125Z',
              text: 'To the sea.',
              marks: [[7, 10]],
            },
          ],
        },
      ],
      complete: true,
    },
  })
export type Search = z.output<typeof SearchSchema>
