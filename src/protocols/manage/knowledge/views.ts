// What clients and commands see of indexes and of what a search finds.

import { isoTime } from '../../../domain/clock.ts'
import type { Passage } from '../../../domain/knowledge/passage.ts'
import { present } from '../../../domain/present.ts'
import type { Found, IndexStatus } from '../../../knowledge/knowledge.ts'
import type { KnowledgeFound, KnowledgeIndex as WireKnowledgeIndex, Passage as WirePassage } from './schema.ts'

export function indexView(status: IndexStatus, usedBy: WireKnowledgeIndex['used_by']): WireKnowledgeIndex {
  const { embedding, progress, updatedAt, problems, problemCount, sources, ...rest } = status
  return {
    ...rest,
    sources: [...sources],
    used_by: usedBy,
    embedding,
    progress,
    updated_at: updatedAt === null ? null : isoTime(updatedAt),
    problems: [...problems],
    problem_count: problemCount,
  }
}

export const foundView = ({ hits, lacks }: Found): KnowledgeFound => ({
  hits: hits.map(({ passage, score, byWords, byMeaning }) => ({
    passage: passageView(passage),
    score,
    by_words: byWords,
    by_meaning: byMeaning,
  })),
  lacks: [...lacks],
})

export function passageView({ id, file, place, headings, text }: Passage): WirePassage {
  const { page, sheet, slide, line } = place
  return {
    id,
    file,
    ...present({
      page: page ?? undefined,
      sheet: sheet ?? undefined,
      slide: slide ?? undefined,
      line: line ?? undefined,
      heading: headings.length === 0 ? undefined : headings.join(' > '),
    }),
    text,
  }
}
