import { useEffect, useRef, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { announce } from '../../parts/Announcer.tsx'
import { Button } from '../../parts/Button.tsx'
import { ExportIcon, StopIcon } from '../../parts/icons.ts'
import { saveFile } from '../../parts/save-file.ts'
import { counted, fullCount } from '../../words.ts'
import { type AuditFilters, questionOf } from './audit-filters.ts'
import { readAllEntries } from './use-audit.ts'

/** Saves every entry that the filters let through, one JSON object in a line, newest first. */
export function ExportEntries({ filters }: { filters: AuditFilters }) {
  const client = useClient()
  const isLive = useIsLive()
  const [count, setCount] = useState<number | null>(null)
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])

  async function save(): Promise<void> {
    const controller = new AbortController()
    abort.current = controller
    setCount(0)
    try {
      const entries = await readAllEntries(client.audit.list, questionOf(filters), {
        signal: controller.signal,
        onPage: setCount,
      })
      const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`)
      saveFile(`audit-${new Date().toISOString().slice(0, 10)}.jsonl`, lines, 'application/x-ndjson')
      announce(`Saved ${counted(entries.length, 'entry', 'entries')}`)
    } catch (error) {
      if (!controller.signal.aborted) announce(`The export failed. ${error instanceof Error ? error.message : ''}`)
    } finally {
      setCount(null)
    }
  }

  if (count !== null) {
    return (
      <Button icon={<StopIcon />} onClick={() => abort.current?.abort()}>
        Stop ({fullCount(count)} read)
      </Button>
    )
  }
  return (
    <Button icon={<ExportIcon />} disabled={!isLive} onClick={() => void save()}>
      Save as JSONL
    </Button>
  )
}
