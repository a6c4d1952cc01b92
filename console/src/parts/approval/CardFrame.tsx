import type { RecordView } from 'quarterdeck/client'
import { type ComponentProps, type ReactNode, useEffect, useId, useRef } from 'react'
import { Link } from 'wouter'
import { useOtherOwner } from '../../data/me.ts'
import { usePlace } from '../../data/place.ts'
import { useLook } from '../../data/taken.ts'
import { folderName } from '../../words.ts'
import { RiskBadge } from '../Badge.tsx'
import { Button } from '../Button.tsx'
import { Pending } from '../States.tsx'
import { Scroller } from '../seen/Scroller.tsx'
import { preciseTime, Time } from '../Time.tsx'
import { VisibleText } from '../VisibleText.tsx'
import styles from './CardFrame.module.css'
import { MarkIcon } from './MarkIcon.tsx'
import { Notice } from './Notice.tsx'
import { RecordFacts } from './RecordParts.tsx'
import { TakenBy } from './TakenBy.tsx'
import { StoodStill, TimeLeft } from './TimeLeft.tsx'
import type { Draft } from './use-draft.ts'

interface CardFrameProps {
  view: RecordView
  /** It stands in a conversation and is no higher than it must be. */
  docked: boolean
  /** When it was read, in milliseconds, if it may be old by now: the server does not answer. */
  asOf: number | null
  children: ReactNode
  /** A bar that stays in sight. Once it is decided, who decided what takes its place. */
  buttons: ReactNode
}

/** What every card has: what it is, who waits, since when and how long, and a bar with the buttons below. */
export function CardFrame({ view, docked, asOf, children, buttons }: CardFrameProps) {
  const titleId = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  const owner = useOtherOwner(view.owner)
  const isDone = view.outcome !== null
  useLook(isDone || docked ? null : view.id)
  // Most agents ask, and stand still from then on.
  const isIdle = !isDone && Date.parse(view.asked_at) - Date.parse(view.context.still_since) > 60_000
  // biome-ignore lint/correctness/useExhaustiveDependencies: when it comes
  useEffect(() => {
    const place = document.activeElement
    if (docked || place === document.body) return
    if (place?.contains(heading.current)) heading.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => {
    // The button that had the focus is gone. The focus must not get lost.
    if (isDone && document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [isDone])
  return (
    <article className={docked ? styles.docked : styles.card} aria-labelledby={titleId}>
      <Scroller className={styles.scroller}>
        <div className={`${styles.content} ${asOf === null ? '' : styles.old}`}>
          <header className={styles.head}>
            <p className={styles.kind}>
              <MarkIcon mark={view.mark} />
              {view.label}
              {view.risk !== null && <RiskBadge risk={view.risk.level} />}
              {view.risk !== null && view.risk.why !== null && (
                // What an agent does follows its name. What a file is stands for itself.
                <VisibleText
                  text={`${/\.$/.test(view.risk.why) ? '' : `${view.agent} `}${view.risk.why}`}
                  inline
                  isRaw
                />
              )}
            </p>
            <h2 ref={heading} id={titleId} className={styles.title} tabIndex={-1}>
              <VisibleText text={view.title} inline isRaw />
            </h2>
            <p className={styles.facts}>
              <span>
                <bdi>{view.agent}</bdi> {view.asks}
              </span>
              {view.folder !== null && <bdi title={view.folder}>{folderName(view.folder)}</bdi>}
              {owner !== null && (
                <span>
                  for <bdi>{owner}</bdi>
                </span>
              )}
              <Time at={view.asked_at} />
              {isIdle && (
                <span>
                  has stood still for <StoodStill since={view.context.still_since} />
                </span>
              )}
              {asOf !== null && <span>as of {preciseTime(asOf)}</span>}
              {!isDone && view.expires_at !== null && <TimeLeft until={view.expires_at} />}
              {!isDone && <TakenBy ids={[view.id]} />}
              {!docked && <Link href={`/sessions/${view.session.id}`}>Open session</Link>}
            </p>
          </header>
          <RecordFacts facts={contextFacts(view.context)} />
          {children}
        </div>
      </Scroller>
      {view.outcome === null ? (
        buttons
      ) : (
        // In place of the buttons: there is nothing more to decide.
        <footer className={styles.outcome}>
          <Outcome outcome={view.outcome} />
        </footer>
      )}
    </article>
  )
}

/** What somebody who was not there needs to decide. */
function contextFacts({ request, said, tool, before }: RecordView['context']): RecordView['facts'] {
  const lines = { 'Asked for': request, 'It says': said, 'The tool': tool, Before: before }
  return Object.entries(lines).flatMap(([name, text]) => (text === null ? [] : { name, text, at: null, minor: false }))
}

/** In place of a card: it is on its way, or could not be read. `height`: of the card that comes, in pixels. */
export function CardState({ query, height }: Pick<ComponentProps<typeof Pending>, 'query'> & { height: number }) {
  return (
    <div className={styles.state}>
      <Pending query={query} rows={1} height={height} />
    </div>
  )
}

/** Who decided what, when and where. It takes the place of the buttons. */
function Outcome({ outcome }: { outcome: NonNullable<RecordView['outcome']> }) {
  const { word, tone, by, at, via, more, words, reason, facts } = outcome
  const { page } = usePlace()
  // The server names the question that took the place of this one.
  const askedAgain = /asked again as ([0-9a-f-]{36})/.exec(reason ?? '')?.[1]
  return (
    <>
      <div role="status">
        <Notice tone={tone}>
          <p>
            <strong>{word}</strong>
            {by !== null && (
              <>
                {' '}
                by <bdi>{by}</bdi>
              </>
            )}
            {at !== null && (
              <>
                {' '}
                <Time at={at} />
              </>
            )}
            {via !== null && ` ${via}`}
          </p>
          {more !== '' && (
            <p>
              <VisibleText text={more} inline isRaw />
            </p>
          )}
          {words !== null && <Said title={words.title} text={words.text} />}
          {reason !== null && <Said title="Reason" text={reason} />}
          <RecordFacts facts={facts} />
        </Notice>
      </div>
      {askedAgain !== undefined && page === 'console' && (
        <Link href={`/inbox/${askedAgain}`}>Open the new question</Link>
      )}
    </>
  )
}

function Said({ title, text }: { title: string; text: string }) {
  return (
    <p>
      {title}: <VisibleText text={text} inline isRaw />
    </p>
  )
}

interface DecisionBarProps {
  /** Why one of the buttons does nothing yet. */
  note: string | null
  draft: Draft
  children: ReactNode
}

/** The buttons of a card, below everything and always in sight. */
export function DecisionBar({ note, draft, children }: DecisionBarProps) {
  return (
    <footer className={styles.bar}>
      {Object.keys(draft.texts).length > 0 && (
        <p className={styles.draft}>
          {draft.isOld ? 'You began a draft before this changed.' : 'Your draft is kept in this tab.'}
          <Button kind="quiet" onClick={draft.drop}>
            Throw it away
          </Button>
        </p>
      )}
      <p className={styles.note} role="status">
        {note}
      </p>
      <div className={styles.buttons}>{children}</div>
    </footer>
  )
}
