import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Link } from 'wouter'
import { useOtherOwner } from '../../data/me.ts'
import { type Risk, RiskBadge } from '../Badge.tsx'
import { Scroller } from '../seen/Scroller.tsx'
import { preciseTime, Time } from '../Time.tsx'
import { VisibleText } from '../VisibleText.tsx'
import styles from './CardFrame.module.css'
import { TimeLeft } from './TimeLeft.tsx'

interface CardFrameProps {
  /** What kind of thing it is. */
  kind: string
  icon: ReactNode
  /** What it is about, with the server's marks. */
  title: string
  risk?: Risk | undefined
  agent: string
  host: string | null
  owner: string | null
  sessionId: string
  createdAt: string
  /** Null: it waits for as long as it takes, or it is over. */
  expiresAt: string | null
  /** It stands in a conversation and is no higher than it must be. */
  docked: boolean
  /** When it was read, in milliseconds, if it may be old by now: the server does not answer. */
  asOf: number | null
  /** There is nothing more to decide. */
  isDone: boolean
  children: ReactNode
  /** The buttons, or who decided what. It stays in sight. */
  bar: ReactNode
}

/** What every card has: what it is, who waits, since when and how long, and a bar with the buttons below. */
export function CardFrame(props: CardFrameProps) {
  const titleId = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  const { isDone } = props
  const owner = useOtherOwner(props.owner)
  useEffect(() => {
    // The button that had the focus is gone. The focus must not get lost.
    if (isDone && document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [isDone])
  return (
    <article className={props.docked ? styles.docked : styles.card} aria-labelledby={titleId}>
      <Scroller className={styles.scroller}>
        <div className={`${styles.content} ${props.asOf === null ? '' : styles.old}`}>
          <header className={styles.head}>
            <p className={styles.kind}>
              {props.icon}
              {props.kind}
              {props.risk !== undefined && <RiskBadge risk={props.risk} />}
            </p>
            <h2 ref={heading} id={titleId} className={styles.title} tabIndex={-1}>
              <VisibleText text={props.title} inline />
            </h2>
            <p className={styles.facts}>
              <bdi>{props.agent}</bdi>
              {props.host !== null && props.host !== props.agent && <bdi>{props.host}</bdi>}
              {owner !== null && (
                <span>
                  for <bdi>{owner}</bdi>
                </span>
              )}
              <Time at={props.createdAt} />
              {props.asOf !== null && <span>as of {preciseTime(props.asOf)}</span>}
              {props.expiresAt !== null && <TimeLeft until={props.expiresAt} />}
              {!props.docked && <Link href={`/sessions/${props.sessionId}`}>Open session</Link>}
            </p>
          </header>
          {props.children}
        </div>
      </Scroller>
      {props.bar}
    </article>
  )
}

/** A part of a card with a small heading. `apart`: words that are no evidence, such as the agent's own. */
export function CardSection({
  title,
  actions,
  apart = false,
  children,
}: {
  title: ReactNode
  actions?: ReactNode
  apart?: boolean
  children: ReactNode
}) {
  return (
    <section className={apart ? styles.apart : styles.section}>
      <div className={styles.sectionHead}>
        <h3>{title}</h3>
        {actions}
      </div>
      {children}
    </section>
  )
}

/** In place of a card: it is on its way, or could not be read. */
export function CardState({ children }: { children: ReactNode }) {
  return <div className={styles.state}>{children}</div>
}
