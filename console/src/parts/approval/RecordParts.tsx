import type { RecordView } from 'quarterdeck/client'
import type { ReactNode } from 'react'
import { DiffView } from '../diff/DiffView.tsx'
import { Time } from '../Time.tsx'
import { VisibleText } from '../VisibleText.tsx'
import styles from './RecordParts.module.css'

interface CardSectionProps {
  title: string
  /** Words that prove nothing, such as the agent's own. */
  apart?: boolean
  children: ReactNode
}

/** A part of a card with a small heading. */
export function CardSection({ title, apart = false, children }: CardSectionProps) {
  return (
    <section className={apart ? styles.apart : styles.section}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

/** What is known about a record besides. */
export function RecordFacts({ facts }: Pick<RecordView, 'facts'>) {
  if (facts.length === 0) return null
  return (
    <dl className={styles.facts}>
      {facts.map(({ name, text, at, minor }) => (
        <div key={name} className={minor ? styles.minor : undefined}>
          <dt>{name}</dt>
          <dd>
            <VisibleText text={text} inline isRaw />
            {text !== '' && at !== null && ' · '}
            {at !== null && <Time at={at} />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

export type BodyPart = RecordView['body'][number]

/** A part that is read, and does not run. What others say stands apart. `isMain`: it is what the record is about. */
export function BodyPartView({ part, isMain = false }: { part: BodyPart; isMain?: boolean }) {
  switch (part.type) {
    case 'diff':
      return <DiffView text={part.text} label={part.title} />
    case 'arguments':
      return (
        <CardSection title={part.title} apart>
          <VisibleText text={part.text} isRaw />
        </CardSection>
      )
    case 'prose':
      if (part.title === '') return <p>{part.text}</p>
      return (
        <CardSection title={part.title} apart={part.by !== 'server'}>
          <div className={isMain ? styles.words : undefined}>
            <VisibleText text={part.text} isRaw />
          </div>
        </CardSection>
      )
    case 'steps':
      return (
        <CardSection title={part.title} apart>
          <ul className={styles.steps}>
            {part.steps.map(({ label, status }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: labels may be the same
              <li key={i}>
                <span className={styles.state}>{status.replaceAll('_', ' ')}</span>
                <VisibleText text={label} inline isRaw />
              </li>
            ))}
          </ul>
        </CardSection>
      )
  }
}
