import { z } from 'zod'
import { indexStates } from '../../../knowledge/knowledge.ts'

/** Where a passage stands. Left out: the file has no such part. */
const place = {
  file: z.string().describe('Path of the file in the source.'),
  page: z.int().min(1).optional(),
  sheet: z.string().optional(),
  slide: z.int().min(1).optional(),
  line: z.int().min(1).optional(),
  heading: z.string().optional().describe('The headings above it, joined with ` > `.'),
}

export const PassageSchema = z
  .strictObject({ id: z.string(), ...place, text: z.string().describe('Markdown, as the file says it.') })
  .meta({
    id: 'Passage',
    example: {
      id: 'p4f1c2a9e0b7d3c58',
      file: 'leave.md',
      line: 12,
      heading: 'Leave > Parental leave',
      text: 'Parents get 20 days for each child, to be taken in its first three years.',
    },
  })
export type Passage = z.output<typeof PassageSchema>

export const PassageListSchema = z.strictObject({ passages: z.array(PassageSchema) })

export const KnowledgeIndexSchema = z
  .strictObject({
    id: z.string(),
    used_by: z
      .array(z.strictObject({ agent: z.string(), tool: z.string() }))
      .describe('Tools with the same settings share an index.'),
    sources: z.array(z.string()).describe('As the agent file names them.'),
    embedding: z.string().nullable().describe('`provider/model`. Null: passages are found by their words alone.'),
    state: z
      .enum(indexStates)
      .describe('`waiting`: nobody has looked at the files yet. `failed`: see `why`; it is tried again.'),
    why: z.string().nullable(),
    progress: z
      .strictObject({ done: z.int().min(0), total: z.int().min(0), phase: z.enum(['reading', 'embedding']) })
      .nullable()
      .describe('Of the update that is under way.'),
    files: z.int().min(0),
    passages: z.int().min(0),
    embedded: z.int().min(0).nullable().describe('Passages that are found by their meaning too.'),
    updated_at: z.string().nullable().describe('When it last knew all files. Null: never yet.'),
    problems: z
      .array(z.strictObject({ file: z.string(), why: z.string() }))
      .describe('Files that could not be read, or not as a whole; the first 1,000.'),
    problem_count: z.int().min(0),
  })
  .meta({
    id: 'KnowledgeIndex',
    example: {
      id: 'k-5d1f0c7a2b9e4863',
      used_by: [{ agent: 'clerk', tool: 'handbook' }],
      sources: ['./handbook'],
      embedding: null,
      state: 'ready',
      why: null,
      progress: null,
      files: 42,
      passages: 1_310,
      embedded: null,
      updated_at: '2026-11-19T08:00:00.000Z',
      problems: [{ file: 'old.doc', why: 'It is an Office document older than 2007.' }],
      problem_count: 1,
    },
  })
export type KnowledgeIndex = z.output<typeof KnowledgeIndexSchema>

export const KnowledgeQuerySchema = z
  .strictObject({
    agent: z.string().min(1).max(128),
    tool: z.string().min(1).max(128).optional().describe('Default: the first tool of the agent that has documents.'),
    query: z.string().min(1).max(1_000),
    passages: z.int().min(1).max(50).default(10),
  })
  .meta({ id: 'KnowledgeQuery' })
export type KnowledgeQuery = z.input<typeof KnowledgeQuerySchema>

export const KnowledgeFoundSchema = z
  .strictObject({
    hits: z.array(
      z.strictObject({
        passage: PassageSchema,
        score: z.number().nullable().describe('Null: it is there because it belongs to the hit before it.'),
        by_words: z.int().min(1).nullable().describe('Its place among what the words alone found.'),
        by_meaning: z.int().min(1).nullable().describe('The same for the meaning.'),
      }),
    ),
    lacks: z.array(z.string()).describe('What could not be searched, in sentences.'),
  })
  .meta({
    id: 'KnowledgeFound',
    example: {
      hits: [
        {
          passage: {
            id: 'p4f1c2a9e0b7d3c58',
            file: 'leave.md',
            line: 12,
            heading: 'Leave > Parental leave',
            text: 'Parents get 20 days for each child, to be taken in its first three years.',
          },
          score: 7.4,
          by_words: 1,
          by_meaning: null,
        },
      ],
      lacks: [],
    },
  })
export type KnowledgeFound = z.output<typeof KnowledgeFoundSchema>
