import type { Agent } from 'quarterdeck/client'
import { formatBytes } from '../../parts/bytes.ts'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { Panel } from '../../parts/Page.tsx'
import styles from './ToolList.module.css'

type Skill = Agent['skills'][number]

const columns: Column<Skill>[] = [
  {
    name: 'Skill',
    cell: ({ name, description, files }) => (
      <>
        <code>
          <bdi>{name}</bdi>
        </code>
        <p dir="auto" className={styles.text}>
          {description}
        </p>
        {files.length > 0 && (
          <details className={styles.notes}>
            <summary>{files.length === 1 ? '1 file' : `${files.length} files`} beside SKILL.md</summary>
            <ul>
              {files.map(({ path, bytes }) => (
                <li key={path}>
                  <bdi>{path}</bdi> · {formatBytes(bytes)}
                </li>
              ))}
            </ul>
          </details>
        )}
      </>
    ),
  },
  { name: 'Size', cell: ({ bytes }) => formatBytes(bytes), isNumber: true },
]

/** What the agent reads when a task needs it. */
export function SkillList({ skills }: { skills: readonly Skill[] }) {
  return (
    <Panel title="Skills" isFlush>
      <DataTable label="Skills" rows={skills} keyOf={({ name }) => name} columns={columns} />
    </Panel>
  )
}
