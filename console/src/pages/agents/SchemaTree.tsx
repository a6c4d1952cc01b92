import { useMemo } from 'react'
import styles from './SchemaTree.module.css'
import { type SchemaNode, schemaTree } from './schema-tree.ts'

/** What a tool takes, as a tree. */
export function SchemaTree({ schema }: { schema: unknown }) {
  const tree = useMemo(() => schemaTree(schema), [schema])
  if (tree.length === 0) return <p className={styles.none}>It takes nothing.</p>
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
