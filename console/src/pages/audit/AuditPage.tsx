import { useQueryClient } from '@tanstack/react-query'
import type { AuditEntry } from 'quarterdeck/client'
import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useTitle } from '../../app/title.ts'
import { countFilters, writeFilters } from '../../data/list-filters.ts'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { announce } from '../../parts/Announcer.tsx'
import { AsOf } from '../../parts/AsOf.tsx'
import { Button } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { flipped } from '../../parts/flipped.ts'
import { AuditIcon, ExportIcon, StopIcon } from '../../parts/icons.ts'
import { ListFrame, NewRows } from '../../parts/ListFrame.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, How, Pending } from '../../parts/States.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { type RowsHandle, VirtualRows } from '../../parts/VirtualRows.tsx'
import { counted, fullCount } from '../../words.ts'
import { type AuditFilters, isDecisions, questionOf, readAuditFilters } from './audit-filters.ts'
import { EVERYTHING } from './audit-kinds.ts'
import { ChainState } from './ChainState.tsx'
import { EntryRow } from './EntryRow.tsx'
import { FilterBar } from './FilterBar.tsx'
import { readAllEntries, useAuditEntries, useChain } from './use-audit.ts'

/** Who decided and did what, and whether the trail of it is whole. */
export default function AuditPage() {
  useTitle('Audit')
  const [params, setParams] = useSearchParams()
  const filters = readAuditFilters(params)
  const bar = useRef<HTMLDivElement>(null)
  useKeys([
    {
      keys: '/',
      name: 'Filter',
      group: 'Audit',
      run: () => bar.current?.querySelector<HTMLElement>('input, select')?.focus(),
    },
  ])
  return (
    <Page
      title="Audit"
      shape="fill"
      actions={<ExportEntries filters={filters} />}
      bar={
        <>
          <ChainState />
          <FilterBar
            ref={bar}
            filters={filters}
            onChange={(next) => setParams(writeFilters(next), { replace: true })}
          />
        </>
      }
    >
      <Entries key={writeFilters(filters).toString()} filters={filters} />
    </Page>
  )
}

const idOf = ({ seq }: AuditEntry): string => String(seq)

function Entries({ filters }: { filters: AuditFilters }) {
  const list = useAuditEntries(filters)
  const { entries } = list
  const isFiltered = countFilters({ ...filters, kind: filters.kind === EVERYTHING ? '' : filters.kind }) > 0
  const chain = useChain()
  const isLive = useIsLive()
  const [open, setOpen] = useState<ReadonlySet<number>>(() => new Set(filters.at === '' ? [] : [Number(filters.at)]))
  const handle = useRef<RowsHandle>(null)
  const keys = useRowKeys(entries, idOf, { what: 'entry', group: 'Audit', handle })
  useKeys(keys.actions)

  if (list.isLoading) return <Pending query={list} rows={12} height={40} />
  if (entries.length === 0) return <NoEntries isFiltered={isFiltered} isDecisions={isDecisions(filters)} />
  return (
    <AsOf isLive={isLive} at={list.readAt} isFilled>
      <ListFrame problem={list.error === null ? null : 'The next page did not come.'} onRetry={list.refetch}>
        {filters.at === '' && (
          <NewEntries
            newest={entries[0]?.seq ?? 0}
            readAt={list.readAt}
            isFiltered={isFiltered || isDecisions(filters)}
          />
        )}
        <VirtualRows ref={handle} items={entries} keyOf={idOf} rowHeight={41} label="Entries" onEnd={list.loadMore}>
          {(entry) => (
            <EntryRow
              entry={entry}
              isOpen={open.has(entry.seq)}
              isBroken={chain.data?.broken_at === entry.seq}
              onToggle={() => setOpen(flipped(open, entry.seq))}
              onFocus={() => keys.setCurrent(idOf(entry))}
            />
          )}
        </VirtualRows>
      </ListFrame>
    </AsOf>
  )
}

/** New entries do not move what one reads. They come when one asks for them: the list is read again then, and this begins anew. */
function NewEntries({ newest, readAt, isFiltered }: { newest: number; readAt: number; isFiltered: boolean }) {
  const queries = useQueryClient()
  const { data, dataUpdatedAt } = useChain()
  const [known, setKnown] = useState<number | null>(null)
  if (data === undefined) return null
  // Entries of several chains have no numbers without gaps, so what counts is how many came since the list was read.
  if (known === null && dataUpdatedAt >= readAt) setKnown(data.entries)
  const isExact = data.head !== null && !isFiltered
  const count = data.entries - (isExact ? newest : (known ?? data.entries))
  if (count <= 0) return null
  return (
    <NewRows>
      <Button onClick={() => void queries.resetQueries({ queryKey: ['audit'] })}>
        {isFiltered ? 'Look for new entries' : counted(count, 'new entry', 'new entries')}
      </Button>
    </NewRows>
  )
}

function NoEntries({ isFiltered, isDecisions }: { isFiltered: boolean; isDecisions: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No entry fits" icon={<AuditIcon />}>
        Change the filter to see more.
      </Empty>
    )
  }
  return (
    <Empty title={isDecisions ? 'Nobody has decided anything yet' : 'No entries yet'} icon={<AuditIcon />}>
      <p>
        Decisions, what agents did, and who signed in and looked are put on record here. The terminal shows them too:
      </p>
      <Command isAboutServer>audit list</Command>
      <How to="ask-before-a-tool-runs" />
    </Empty>
  )
}

/** Saves every entry that the filters let through, one JSON object in a line, newest first. */
function ExportEntries({ filters }: { filters: AuditFilters }) {
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
