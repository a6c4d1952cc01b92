// What an answer cites, as the doors show it.

import { z } from 'zod'
import type { AnswerSoFar } from '../../../domain/session/run-answer.ts'
import { type Citations, joinedCitations, type ShownSource, shownSource } from '../../../domain/session/source.ts'

export const SourceSchema = z
  .strictObject({
    id: z.string().describe('Names the passage.'),
    number: z
      .int()
      .min(1)
      .describe('The answer cites it as `[3]`. Each number means one passage in the whole session.'),
    file: z.string().describe('Path of the file, relative to the source of the agent.'),
    page: z.int().min(1).exactOptional(),
    sheet: z.string().exactOptional(),
    slide: z.int().min(1).exactOptional(),
    line: z.int().min(1).exactOptional(),
    heading: z
      .string()
      .exactOptional()
      .describe('The headings above it, from the title down, with ` > ` between them.'),
    text: z.string().describe('What the file says there, at most 2,500 characters. Empty if it was changed.'),
    changed: z.literal(true).exactOptional().describe('The file has changed or gone since the agent read it.'),
  })
  .meta({
    id: 'Source',
    example: {
      id: '4f9d2c71',
      number: 3,
      file: 'leave.md',
      line: 12,
      heading: 'Leave > Parental leave',
      text: 'Parental leave is fourteen weeks.',
    },
  }) satisfies z.ZodType<ShownSource>

/** Only on answers that cite. */
export const sourcesShape = {
  sources: z.array(SourceSchema).exactOptional().describe('What the answer cites. Absent: nothing.'),
  citations_not_found: z
    .array(z.int().min(1))
    .exactOptional()
    .describe('Numbers that the answer cites and that nothing was found under.'),
}

export interface SourcesView {
  sources?: ShownSource[]
  citations_not_found?: number[]
}

/** Of everything that was said. */
export const answerSources = ({ messages }: Pick<AnswerSoFar, 'messages'>): SourcesView =>
  sourcesView(joinedCitations(messages.map(({ citations }) => citations)))

export function sourcesView(citations: Citations | null): SourcesView {
  if (citations === null) return {}
  const { sources, notFound } = citations
  return {
    sources: sources.map(shownSource),
    ...(notFound.length === 0 ? {} : { citations_not_found: [...notFound] }),
  }
}
