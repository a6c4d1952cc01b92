import type { AgentTool } from 'quarterdeck/client'
import { useMemo, useState } from 'react'
import { RiskBadge } from '../../parts/Badge.tsx'
import { IconButton } from '../../parts/Button.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { ClosedIcon, OpenedIcon } from '../../parts/icons.ts'
import { Panel } from '../../parts/Page.tsx'
import { type SchemaNode, schemaTree } from './schema-tree.ts'
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
        {/* A phone has no space for the other columns. */}
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

function SchemaTree({ schema }: { schema: unknown }) {
  const tree = useMemo(() => schemaTree(schema), [schema])
  if (tree.length === 0) return <p className={styles.notes}>It takes nothing.</p>
  return <Level nodes={tree} />
}

function Level({ nodes }: { nodes: readonly SchemaNode[] }) {
  return (
    <ul className={styles.level}>
      {nodes.map((node, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: several parts may have the same name, and none changes its place
        <li key={i}>
          <p className={styles.head}>
            <code>
              <bdi>{node.name}</bdi>
            </code>
            <span className={styles.type}>
              <bdi>{node.type}</bdi>
              {node.isRequired && ', needed'}
            </span>
          </p>
          {node.description !== '' && (
            <p className={styles.text} dir="auto">
              {node.description}
            </p>
          )}
          {node.notes.length > 0 && (
            <p className={styles.notes}>
              <bdi>{node.notes.join(' · ')}</bdi>
            </p>
          )}
          {node.children.length > 0 && <Level nodes={node.children} />}
        </li>
      ))}
    </ul>
  )
}
