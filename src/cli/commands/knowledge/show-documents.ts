// Indexes and what is found in them, as lines for a terminal. Names and texts come from files of strangers.

import { wrapText } from '../../../domain/text/wrap-text.ts'
import type {
  KnowledgeFound,
  KnowledgeIndex as WireKnowledgeIndex,
  Passage as WirePassage,
} from '../../../protocols/manage/knowledge/schema.ts'
import type { Io } from '../../terminal/io.ts'
import { createProgressLine } from '../../terminal/progress-line.ts'
import { type Style, styleFor } from '../../terminal/style.ts'
import { counted, exactText, localMinute, terminalLine } from '../../terminal/terminal-text.ts'
import type { OnProgress } from './reach-documents.ts'

export const MOST_SHOWN = 20

/** `handbook: 120 of 300 files read`, drawn over. */
export function createIndexProgress(io: Io) {
  const line = createProgressLine(io)
  let name = ''
  return {
    begin(next: string): void {
      name = next
      line.show(`${name}: looking at the files`)
    },
    on: ((_index, progress) => line.show(`${name}: ${progressText(progress)}`)) as OnProgress,
    show: line.show,
    clear: line.clear,
  }
}

const progressText = ({ done, total, phase }: Parameters<OnProgress>[1]): string =>
  `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${phase === 'reading' ? 'files read' : 'passages embedded'}`

export const namesOf = ({ used_by }: WireKnowledgeIndex): string =>
  terminalLine([...new Set(used_by.map(({ tool }) => tool))].join(', '), 200)

export const sourcesText = (sources: readonly string[]): string => terminalLine(sources.join(', '), 300)

const manyOf = (count: number, one: string): string =>
  counted(count, one).replace(String(count), count.toLocaleString('en'))

export const contentText = ({ files, passages }: WireKnowledgeIndex): string =>
  `${manyOf(files, 'file')}, ${manyOf(passages, 'passage')}`

/** `handbook: 300 files, 1,310 passages; 2 files could not be read as a whole`. */
export function indexLine(index: WireKnowledgeIndex): string {
  const { problem_count: problems, state, why, progress } = index
  const under = progress === null ? '' : `, ${progressText(progress)}`
  const bad = problems === 0 ? '' : `; ${manyOf(problems, 'file')} could not be read, or not as a whole`
  const reason = why === null ? '' : `\n  ${state}: ${terminalLine(why, 500)}`
  return `${namesOf(index)}: ${contentText(index)}${under}${bad}${reason}`
}

export function factLines({ sources, embedding, embedded, passages, used_by, updated_at }: WireKnowledgeIndex): string {
  const meaning =
    embedding === null
      ? 'words only'
      : `words, and meaning by ${terminalLine(embedding, 100)} (${embedded ?? 0} of ${passages} passages)`
  const lines = [
    `  sources  ${sourcesText(sources)}`,
    `  finds    ${meaning}`,
    `  used by  ${terminalLine(used_by.map(({ agent, tool }) => `${agent} as ${tool}`).join(', '), 300)}`,
    ...(updated_at === null ? [] : [`  as of    ${localMinute(updated_at)}`]),
  ]
  return `${lines.join('\n')}\n`
}

export function problemLines(
  { problems, problem_count: count }: WireKnowledgeIndex,
  { all }: { all?: boolean },
): string {
  const shown = all === true ? problems : problems.slice(0, MOST_SHOWN)
  const lines = shown.map(({ file, why }) => `  ${terminalLine(file, 200)}: ${terminalLine(why, 300)}`)
  const left = count - shown.length
  if (left > 0) lines.push(all === true ? `  … and ${left} more` : `  … and ${left} more: --all`)
  return lines.map((line) => `${line}\n`).join('')
}

export function foundLines({ hits, lacks }: KnowledgeFound, io: Io): string {
  const style = styleFor(io.stdout, io.env)
  const width = io.stdout.isTTY === true ? io.stdout.columns || 80 : Number.POSITIVE_INFINITY
  const shown = hits.map(({ passage, score, by_words, by_meaning }, at) => {
    const how = [
      ...(by_words === null ? [] : [`words ${by_words}.`]),
      ...(by_meaning === null ? [] : [`meaning ${by_meaning}.`]),
    ].join(', ')
    const rank = score === null ? 'belongs to it' : `${score.toPrecision(3)} (${how})`
    const text = exactText(passage.text.trim())
      .split('\n')
      .map((line) => wrapText(`    ${line}`, width, 4))
      .join('\n')
    return `${style.bold(`${at + 1}. ${placeLine(passage)}`)}  ${style.dim(rank)}\n${text}\n`
  })
  const nothing = hits.length === 0 ? ['Nothing was found. Try other words.\n'] : []
  return [...lackLines(lacks, style), ...nothing, ...shown].join('\n')
}

const placeLine = ({ file, page, sheet, slide, line, heading }: WirePassage): string =>
  terminalLine(
    [
      file,
      ...(page === undefined ? [] : [`page ${page}`]),
      ...(sheet === undefined ? [] : [`sheet ${sheet}`]),
      ...(slide === undefined ? [] : [`slide ${slide}`]),
      ...(line === undefined ? [] : [`line ${line}`]),
      ...(heading === undefined ? [] : [heading]),
    ].join(', '),
    300,
  )

export const lackLines = (lacks: readonly string[], style: Style): string[] =>
  lacks.map((lack) => `${style.yellow('warning:')} ${terminalLine(lack, 500)}\n`)
