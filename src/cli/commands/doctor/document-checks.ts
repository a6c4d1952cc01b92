// Checks the documents of agents: what can be read, what is in the index, and whether the embedding answers.

import { openCommandKnowledge } from '../../../app/knowledge/open-command-knowledge.ts'
import type { LoadedConfig } from '../../../app/load-config.ts'
import { abortAfter } from '../../../domain/abort.ts'
import { ServerError } from '../../../domain/errors.ts'
import { silentLogger } from '../../../domain/logger.ts'
import type { KnowledgeIndex } from '../../../knowledge/knowledge.ts'
import { scanSources } from '../../../knowledge/update/scan-sources.ts'
import type { Embedding } from '../../../models/embedding/embedding.ts'
import type { Io } from '../../terminal/io.ts'
import { counted, localMinute, terminalLine } from '../../terminal/terminal-text.ts'
import type { Check } from './checks.ts'

const name = 'Docs'
const EMBEDDING_TIMEOUT_MS = 15_000
const MOST_NAMED = 5

/** Changes nothing, whether a server runs or not. */
export async function checkDocuments(config: LoadedConfig, version: string, io: Io): Promise<Check[]> {
  const { agents, settings, dataDir } = config
  const { clock } = io
  const checks: Check[] = []
  try {
    await using own = await openCommandKnowledge({
      ...{ agents, settings, dataDir, version, clock, log: silentLogger, readOnly: true, onProgress() {} },
    })
    for (const index of own.knowledge.all) {
      const shown = index.settings.sources.join(', ')
      checks.push(...(await checkFiles(index, shown, own.isElsewhere ? null : await own.changes(index.id))))
      const embedding = own.embeddingOf(index.settings)
      if (embedding !== null) checks.push(await checkEmbedding(embedding, shown, io))
    }
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    checks.push({ name, status: 'fail', detail: error.message })
  }
  return checks
}

async function checkFiles(index: KnowledgeIndex, shown: string, changes: number | null): Promise<Check[]> {
  const { files, passages, problems: known, updatedAt } = await index.status()
  const isRead = files > 0 && updatedAt !== null
  const scan = isRead ? null : await scanSources(index.settings, [], new AbortController().signal)
  const problems = scan?.problems.map(({ path, why }) => ({ file: path, why })) ?? known
  const left = changes === null ? 'as of' : changes === 0 ? 'up to date' : `${changes} new, changed or gone since`
  const detail =
    scan === null
      ? `${shown}: ${counted(files, 'file')}, ${counted(passages, 'passage')}, ${left} ${localMinute(updatedAt ?? 0)}`
      : `${shown}: ${counted(scan.files.length + scan.problems.length, 'file')}, not read yet; a server reads them after its start`
  if (problems.length === 0) return [{ name, status: 'ok', detail }]
  const named = problems.slice(0, MOST_NAMED).map(({ file, why }) => terminalLine(`${file}: ${why}`, 300))
  const more = problems.length > MOST_NAMED ? ` And ${problems.length - MOST_NAMED} more.` : ''
  const what = `${shown}: ${counted(problems.length, 'file')} could not be read, or not as a whole. ${named.join(' ')}${more}`
  const mend =
    'The rest is found. Fix these files, or leave them out with ignore. All of them: quarterdeck knowledge status --all'
  return [
    { name, status: 'ok', detail },
    { name, status: 'warn', detail: what, mend },
  ]
}

/** Sends one word. */
async function checkEmbedding(embedding: Embedding, shown: string, { clock }: Io): Promise<Check> {
  const called = `${shown}: the embedding ${embedding.provider}/${embedding.name}`
  using timeout = abortAfter(clock, EMBEDDING_TIMEOUT_MS)
  const began = clock.mono()
  try {
    await embedding.embed(['hello'], 'query', timeout.signal)
    return { name, status: 'ok', detail: `${called} answers (${Math.round(clock.mono() - began)} ms)` }
  } catch (error) {
    const mend = 'Fix embedding in the agent file, or its key. Until then, documents are found by their words alone.'
    if (timeout.signal.aborted) return { name, status: 'fail', detail: `${called} does not answer within 15 s`, mend }
    if (!(error instanceof ServerError)) throw error
    return { name, status: 'fail', detail: `${called}: ${error.message}`, mend }
  }
}
