// Turns a tool of type `knowledge` into its settings, and checks that its sources exist and that the agent may read them.

import { basename, dirname, resolve } from 'node:path'
import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import type { KnowledgeToolSettings } from '../../domain/agent/tool-settings.ts'
import { isWithin } from '../../domain/is-within.ts'
import { present } from '../../domain/present.ts'
import { defineAccess } from '../agent/define-access.ts'
import { providers } from '../agent/providers.ts'
import { inline } from '../source/explain-issues.ts'
import type { Path } from '../source/json-schema-node.ts'
import type { LoadContext } from '../source/load-context.ts'
import type { EmbeddingYaml, KnowledgeYaml } from './knowledge-tool-yaml.ts'

/** A search may have to wait for an embedding. */
const TIMEOUT_MS = 60_000

export function defineKnowledgeTool(tool: KnowledgeYaml, at: Path, context: LoadContext): KnowledgeToolSettings {
  for (const [index, source] of tool.source.entries()) {
    checkSource(source, [...at, 'source', ...(tool.source.length > 1 ? [index] : [])], context)
  }
  return {
    type: 'knowledge',
    name: tool.name,
    description: tool.description ?? null,
    sources: tool.source,
    directory: context.directory,
    folders: foldersOf(context),
    ignore: tool.ignore ?? [],
    embedding: tool.embedding === undefined ? null : defineEmbedding(tool.embedding, [...at, 'embedding'], context),
    effect: 'read',
    risk: tool.risk ?? 'low',
    timeoutMs: tool.timeout === undefined ? TIMEOUT_MS : tool.timeout * 1000,
    retries: 0,
    approval: tool.approval ?? { ask: 'never' },
    predictState: [],
  }
}

const foldersOf = ({ directory, defaults }: Pick<LoadContext, 'directory' | 'defaults'>): string[] =>
  [directory, ...defaults.knowledgeFolders].map((folder) => resolve(folder))

/** Whoever may talk to the agent may read its sources, so a file of the agent alone must not open every folder of the machine. */
function checkSource(source: string, at: Path, { directory, files, defaults, report, warn }: LoadContext): void {
  const { fixed, isGlob, goesUp } = placeOf(source, directory)
  const entries = files.list(fixed)
  const exists = entries !== null || files.list(dirname(fixed))?.some(({ name }) => name === basename(fixed)) === true
  const real = files.realPath(fixed)
  const allowed = foldersOf({ directory, defaults }).map(files.realPath)
  if (goesUp) {
    report(at, 'a glob cannot go up with .. behind its first star. Write the path of the folder in front of it.')
  } else if (!exists && !isGlob) {
    report(at, `${fixed}: there is no such file or folder. Paths are relative to this file.`)
  } else if (!allowed.some((folder) => isWithin(real, folder))) {
    const folder = isGlob || entries !== null ? real : dirname(real)
    const advice = `To let agents read it, write in quarterdeck.yaml: knowledge: ${inline({ folders: [folder] })}`
    report(at, `${real} is outside of this agent’s folder. ${advice}`)
  } else if (!exists) warn(at, `${fixed}: there is no such folder, so nothing matches yet.`)
}

/** `fixed`: the source, or what stands before the first star of a glob, as an absolute path. */
function placeOf(source: string, directory: string): { fixed: string; isGlob: boolean; goesUp: boolean } {
  const parts = source.split('/')
  const first = parts.findIndex((part) => /[*?]/.test(part))
  if (first < 0) return { fixed: resolve(directory, source), isGlob: false, goesUp: false }
  // The slash at the end keeps the root of an absolute path.
  const before = parts.slice(0, first).map((part) => `${part}/`)
  return { fixed: resolve(directory, before.join('')), isGlob: true, goesUp: parts.includes('..', first) }
}

function defineEmbedding(yaml: EmbeddingYaml, at: Path, context: LoadContext): EmbeddingSettings {
  const name = yaml.name ?? providers[yaml.provider].embedding ?? yaml.provider
  const { dimensions = null, price = null } = yaml
  return { ...present({ ...defineAccess(yaml, at, context), name }), dimensions, price }
}
