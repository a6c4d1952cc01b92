// `quarterdeck knowledge eval`.

import { resolve } from 'node:path'
import { readQuestions } from '../../../config/agent/questions-yaml.ts'
import { ConfigError, issueWithoutLine } from '../../../config/config-error.ts'
import { diskFiles, readText } from '../../../config/source/config-files.ts'
import {
  expectedText,
  foundText,
  type Measured,
  type Miss,
  measureSearch,
} from '../../../evaluation/knowledge/measure-search.ts'
import { passageView } from '../../../protocols/manage/knowledge/views.ts'
import { usageError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { counted, terminalLine } from '../../terminal/terminal-text.ts'
import { type Asked, withOwnDocuments } from './reach-documents.ts'
import { createIndexProgress, lackLines, MOST_SHOWN, sourcesText } from './show-documents.ts'

export interface EvalFlags {
  atLeast?: string
  all?: boolean
}

export async function evaluate(file: string, asked: Asked, flags: EvalFlags, io: Io): Promise<number> {
  const atLeast = shareIn(flags.atLeast)
  const path = resolve(io.cwd, file)
  const { text, problem } = readText(diskFiles, path)
  if (text === null) throw new ConfigError([issueWithoutLine(`${problem}.`, { file })])
  const { questions, issues } = readQuestions(file, text)
  if (issues.length > 0) throw new ConfigError(issues)
  const progress = createIndexProgress(io)
  const { signal } = new AbortController()
  try {
    return await withOwnDocuments(asked, io, { readOnly: false, onProgress: progress.on }, async (own, indexes) => {
      const [first, ...others] = indexes
      if (first === undefined || others.length > 0)
        throw usageError('There are several indexes. Say which one the questions are for: --agent <name> --tool <name>')
      if (own.isReadOnly && (await first.status()).passages === 0)
        throw usageError('The running server has nothing in this index.', [
          'It may serve other agents. Stop it, or name its agent files: quarterdeck knowledge eval questions.yaml <files>',
        ])
      if (!own.isReadOnly) {
        progress.begin(sourcesText(first.settings.sources))
        await first.update(signal)
      }
      const measured = await measureSearch(questions, first.search, signal, (done) =>
        progress.show(`${done} of ${questions.length} questions`),
      )
      progress.clear()
      await own.spent(first.settings, measured.usage)
      io.stdout.write(
        asked.json === true ? `${JSON.stringify(measuredView(measured))}\n` : measuredLines(measured, flags, io),
      )
      return atLeast !== null && measured.recall.at5 < atLeast ? exitCodes.failed.code : exitCodes.ok.code
    })
  } finally {
    progress.clear()
  }
}

function shareIn(text: string | undefined): number | null {
  if (text === undefined) return null
  const share = Number(text)
  if (text.trim() !== '' && share >= 0 && share <= 1) return share
  throw usageError(`--at-least ${JSON.stringify(text)}: expected a number from 0 to 1, such as 0.9.`)
}

const measuredView = ({ recall, mrr, questions, misses, lacks, usage }: Measured) => ({
  questions,
  recall_at_1: recall.at1,
  recall_at_5: recall.at5,
  recall_at_10: recall.at10,
  mrr,
  misses: misses.map(({ question, place, found }) => ({ ...question, place, found: found.map(passageView) })),
  lacks,
  tokens: usage.reduce((sum, { inputTokens = 0 }) => sum + (inputTokens ?? 0), 0),
})

function measuredLines(measured: Measured, { all }: EvalFlags, io: Io): string {
  const style = styleFor(io.stdout, io.env)
  const { recall, mrr, questions, misses, lacks } = measured
  const row = (name: string, share: number) =>
    `${name.padEnd(9)}  ${share.toFixed(3)}  ${Math.round(share * questions)} of ${questions}`
  const shown = all === true ? misses : misses.slice(0, MOST_SHOWN)
  const left = misses.length - shown.length
  return `${[
    ...lackLines(lacks, style).map((line) => line.trimEnd()),
    row('recall@1', recall.at1),
    row('recall@5', recall.at5),
    row('recall@10', recall.at10),
    `${'MRR'.padEnd(9)}  ${mrr.toFixed(3)}`,
    ...(misses.length === 0 ? [] : ['', `Not among the first 5: ${counted(misses.length, 'question')}`]),
    ...shown.map(missLines),
    ...(left === 0 ? [] : [`… and ${left} more: --all`]),
  ].join('\n')}\n`
}

function missLines({ question, place, found }: Miss): string {
  const at = place === null ? '' : ` (it is ${place}.)`
  const instead =
    found.length === 0 ? ['nothing'] : found.map((passage, i) => `${i + 1}. ${terminalLine(foundText(passage), 200)}`)
  return [
    '',
    `  ${terminalLine(question.question, 300)}`,
    `    expected  ${terminalLine(expectedText(question), 300)}${at}`,
    ...instead.map((line, i) => `    ${i === 0 ? 'found   ' : '        '}  ${line}`),
  ].join('\n')
}
