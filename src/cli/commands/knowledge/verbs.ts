// What `quarterdeck knowledge` does.

import type { KnowledgeIndex as WireKnowledgeIndex } from '../../../protocols/manage/knowledge/schema.ts'
import { usageError } from '../../cli-error.ts'
import { countFlag } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { confirm, hasTerminal } from '../../terminal/terminal-prompt.ts'
import { counted, sizeText } from '../../terminal/terminal-text.ts'
import { type Asked, withDocuments, withOwnDocuments } from './reach-documents.ts'
import {
  contentText,
  createIndexProgress,
  factLines,
  foundLines,
  indexLine,
  namesOf,
  problemLines,
  sourcesText,
} from './show-documents.ts'

export interface IndexFlags {
  all?: boolean
  dryRun?: boolean
}
export interface SearchFlags {
  passages: string
}
export interface ClearFlags {
  yes?: boolean
}
export async function index(asked: Asked, flags: IndexFlags, io: Io): Promise<number> {
  if (flags.dryRun === true) return await dryRun(asked, io)
  const progress = createIndexProgress(io)
  let isFailed = false
  try {
    await withDocuments(asked, io, true, progress.on, async (documents) => {
      const done: WireKnowledgeIndex[] = []
      for (const one of await documents.list()) {
        progress.begin(namesOf(one))
        const now = await documents.update(one, progress.on)
        progress.clear()
        done.push(now)
        if (now.state === 'failed') isFailed = true
        if (asked.json !== true) io.stdout.write(`${indexLine(now)}\n${problemLines(now, flags)}`)
      }
      if (asked.json === true) io.stdout.write(`${JSON.stringify({ indexes: done })}\n`)
    })
  } finally {
    progress.clear()
  }
  return isFailed ? exitCodes.failed.code : exitCodes.ok.code
}

async function dryRun(asked: Asked, io: Io): Promise<number> {
  await withOwnDocuments(asked, io, { readOnly: true, onProgress() {} }, async (own, indexes) => {
    const estimates = []
    for (const { id, settings } of indexes) {
      const { files, bytes, passages, tokens, cost } = await own.estimate(id)
      const { embedding, sources } = settings
      const embeds = embedding === null ? null : { embedding: `${embedding.provider}/${embedding.name}`, tokens, cost }
      estimates.push({ id, sources, files, bytes, passages, embeds })
    }
    if (asked.json === true) return void io.stdout.write(`${JSON.stringify({ indexes: estimates })}\n`)
    for (const { sources, files, bytes, passages, embeds } of estimates) {
      const what = `${counted(files, 'new or changed file')}, ${sizeText(bytes)}, about ${counted(passages, 'passage')}`
      const spent =
        embeds === null
          ? 'Words only, nothing is sent.'
          : embeds.embedding.startsWith('demo/')
            ? 'The embedding demo runs here, nothing is sent.'
            : `About ${embeds.tokens.toLocaleString('en')} tokens would be sent to ${embeds.embedding}: ${costText(embeds.cost)}.`
      io.stdout.write(`${sourcesText(sources)}: ${what}. ${spent}\n`)
    }
    io.stderr.write('Nothing was written or sent.\n')
  })
  return exitCodes.ok.code
}

const costText = (cost: number | null): string =>
  cost === null
    ? 'price unknown (write price under embedding)'
    : cost < 0.01
      ? 'costs less than 0.01'
      : `costs about ${cost.toFixed(2)}`

export async function status(asked: Asked, flags: IndexFlags, io: Io): Promise<number> {
  await withDocuments(
    asked,
    io,
    false,
    () => {},
    async (documents) => {
      const indexes = await documents.list()
      if (asked.json === true) return void io.stdout.write(`${JSON.stringify({ indexes })}\n`)
      for (const one of indexes) io.stdout.write(`${indexLine(one)}\n${factLines(one)}${problemLines(one, flags)}`)
    },
  )
  return exitCodes.ok.code
}

export async function search(query: string, asked: Asked, flags: SearchFlags, io: Io): Promise<number> {
  const passages = countFlag('--passages', flags.passages)
  if (query.trim() === '')
    throw usageError('Write what to look for: quarterdeck knowledge search "How long is parental leave?"')
  const progress = createIndexProgress(io)
  await withDocuments(asked, io, true, progress.on, async (documents) => {
    const [first, ...others] = await documents.list()
    if (first === undefined) return
    if (others.length > 0) {
      const uses = [first, ...others].flatMap(({ used_by }) => used_by)
      throw usageError('There are several indexes. Say which one to search:', [
        ...uses.map(({ agent, tool }) => `--agent ${agent} --tool ${tool}`),
      ])
    }
    const use = first.used_by.find(
      (one) => (asked.agent ?? one.agent) === one.agent && (asked.tool ?? one.tool) === one.tool,
    )
    if (use === undefined) return
    if (!documents.areKept) {
      progress.begin(namesOf(first))
      await documents.update(first, progress.on)
      progress.clear()
    }
    const found = await documents.search(use, query, passages)
    io.stdout.write(asked.json === true ? `${JSON.stringify(found)}\n` : foundLines(found, io))
  })
  return exitCodes.ok.code
}

export async function clear(asked: Asked, { yes }: ClearFlags, io: Io): Promise<number> {
  await withDocuments(
    asked,
    io,
    true,
    () => {},
    async (documents) => {
      const indexes = await documents.list()
      const what = indexes.map((one) => `${namesOf(one)}: ${contentText(one)}`)
      if (yes !== true) {
        if (!hasTerminal(io))
          throw usageError('This asks before it removes something.', ['Without a terminal, add --yes.'])
        io.stdout.write(`${what.join('\n')}\nAll files are read again, and embedded again where that is configured.\n`)
        await confirm('Clear it?', io)
      }
      for (const one of indexes) await documents.clear(one)
      const cleared = indexes.map(({ id }) => id)
      io.stdout.write(asked.json === true ? `${JSON.stringify({ cleared })}\n` : `Removed ${what.join('\nRemoved ')}\n`)
    },
  )
  return exitCodes.ok.code
}
