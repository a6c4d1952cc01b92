import type { HostState } from 'quarterdeck/client'
import { useEffect, useRef } from 'react'
import styles from './CommandList.module.css'

interface CommandListProps {
  id: string
  commands: readonly HostState['commands'][number][]
  at: number
  onTake: (name: string) => void
}

/** The commands that begin with what is typed. The field keeps the focus. */
export default function CommandList({ id, commands, at, onTake }: CommandListProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' })
  }, [at])
  return (
    <div ref={list} id={id} role="listbox" aria-label="Commands of the agent" className={styles.list}>
      {commands.map(({ name, description, hint }, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
        <div
          key={name}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === at}
          className={styles.command}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onTake(name)}
        >
          <span className={styles.name}>
            /{name}
            {hint !== null && <i> {hint}</i>}
          </span>
          <bdi>{description}</bdi>
        </div>
      ))}
    </div>
  )
}
