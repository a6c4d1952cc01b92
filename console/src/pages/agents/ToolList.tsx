import type { AgentTool } from 'quarterdeck/client'
import { useState } from 'react'
import { RiskBadge } from '../../parts/Badge.tsx'
import { IconButton } from '../../parts/Button.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { ClosedIcon, OpenedIcon } from '../../parts/icons.ts'
import { Panel } from '../../parts/Page.tsx'
import { SchemaTree } from './SchemaTree.tsx'
import styles from './ToolList.module.css'

const effects: Readonly<Record<AgentTool['effect'], string>> = {
  read: 'Only reads',
  idempotent: 'May be repeated',
  once: 'Once only',
}
const places: Readonly<Record<AgentTool['execution_location'], string>> = {
  server: 'On this server',
  client: 'In the page',
}

/** The tools of an agent: how dangerous they are, who is asked, and what they take. */
export function ToolList({ tools }: { tools: readonly AgentTool[] }) {
  const [open, setOpen] = useState<string | null>(null)
  if (tools.length === 0) {
    return (
      <Panel title="Tools">
        <p className={styles.none}>
          This agent has no tools. They are added under <code>tools</code> in its file.
        </p>
      </Panel>
    )
  }
  const columns: Column<AgentTool>[] = [
    {
      name: 'Tool',
      cell: (tool) => (
        <ToolCell tool={tool} isOpen={tool.name === open} onToggle={(next) => setOpen(next ? tool.name : null)} />
      ),
    },
    { name: 'Risk', cell: ({ risk }) => <RiskBadge risk={risk} /> },
    { name: 'Effect', cell: ({ effect }) => <span className={styles.word}>{effects[effect]}</span>, isMinor: true },
    { name: 'Who is asked', cell: ({ approval }) => approval, isMinor: true },
    {
      name: 'Runs',
      cell: (tool) => <span className={styles.word}>{places[tool.execution_location]}</span>,
      isMinor: true,
    },
  ]
  return (
    <Panel title="Tools" isFlush>
      <DataTable label="Tools" rows={tools} keyOf={({ name }) => name} columns={columns} />
    </Panel>
  )
}

interface ToolCellProps {
  tool: AgentTool
  isOpen: boolean
  onToggle: (isOpen: boolean) => void
}

function ToolCell({ tool, isOpen, onToggle }: ToolCellProps) {
  return (
    <div className={styles.tool}>
      <div className={styles.name}>
        <IconButton
          label={`What ${tool.name} takes`}
          icon={isOpen ? <OpenedIcon /> : <ClosedIcon />}
          aria-expanded={isOpen}
          onClick={() => onToggle(!isOpen)}
        />
        <code>
          <bdi>{tool.name}</bdi>
        </code>
      </div>
      <div className={styles.about}>
        <p dir="auto" className={styles.text}>
          {tool.description}
        </p>
        {/* A phone has no room for the other columns. */}
        <p className={styles.phone}>
          {effects[tool.effect]} · {places[tool.execution_location]} · {tool.approval}
        </p>
        {isOpen && (
          <div className={styles.takes}>
            <SchemaTree schema={tool.parameters} />
          </div>
        )}
      </div>
    </div>
  )
}
