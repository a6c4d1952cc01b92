// The recorded calls, task by task.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostName } from '../../src/hosts/hosts.ts'
import { corpusFolder, type RecordedCall } from './recorded-call.ts'
import { readScripts } from './scripts.ts'
import type { WorkspaceName } from './workspaces.ts'

export interface RecordedTask {
  name: string
  host: HostName
  workspace: WorkspaceName
  calls: readonly RecordedCall[]
}

export const readCorpus = (): RecordedTask[] =>
  readScripts().map(({ name, host, workspace }) => {
    const lines = readFileSync(join(corpusFolder, `${name}.jsonl`), 'utf8').split('\n')
    return { name, host, workspace, calls: lines.filter(Boolean).map((line) => JSON.parse(line) as RecordedCall) }
  })
