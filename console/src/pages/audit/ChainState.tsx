import type { AuditChain } from 'quarterdeck/client'
import { Link } from 'wouter'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { Command } from '../../parts/Command.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Pending } from '../../parts/States.tsx'
import { Time } from '../../parts/Time.tsx'
import { counted, fullCount } from '../../words.ts'
import styles from './ChainState.module.css'
import { useChain } from './use-audit.ts'

/** Whether nobody has changed, removed or slipped in an entry. It stands before the entries, since they mean nothing without it. */
export function ChainState() {
  const chain = useChain()
  const { data } = chain
  if (data === undefined) return <Pending query={chain} rows={1} height={72} />
  const [word, tone] = badges[data.status]
  return (
    <section className={styles.chain} data-status={data.status} aria-label="State of the trail">
      <p className={styles.words}>
        <Badge tone={tone}>{word}</Badge>
        <span>
          <Words chain={data} />
        </span>
      </p>
      {data.head !== null && (
        <div className={styles.head}>
          <span className={styles.label}>Fingerprint of entry {fullCount(data.head.seq)}, the newest</span>
          <code className={styles.hash}>{data.head.hash}</code>
          <CopyButton text={`${data.head.seq} ${data.head.hash}`} what="fingerprint" />
        </div>
      )}
      {data.chains.length > 1 && data.last_tie !== null && (
        <div className={styles.head}>
          <span className={styles.label}>Fingerprint of all servers</span>
          <code className={styles.hash}>{data.last_tie.hash}</code>
          <CopyButton text={data.last_tie.hash} what="fingerprint" />
        </div>
      )}
      {data.status === 'broken' && (
        <p className={styles.advice}>
          {data.broken_at !== null && data.chains.length === 1 && (
            <>
              <Link href={`/audit?at=${data.broken_at}`}>Show entry {fullCount(data.broken_at)}</Link>.{' '}
            </>
          )}
          Somebody has changed the store, or the disk is damaged. Keep a copy of the store, compare it with your last
          backup, and run <Command isAboutServer>audit verify</Command>.
        </p>
      )}
    </section>
  )
}

const badges: Readonly<Record<AuditChain['status'], readonly [word: string, tone: Tone]>> = {
  broken: ['Something was changed', 'bad'],
  checking: ['Checking', 'accent'],
  whole: ['Nothing was changed', 'good'],
}

function Words({ chain }: { chain: AuditChain }) {
  const { status, checked, entries, broken_at, checked_at, chains, problem } = chain
  const isAre = checked === 1 ? 'is' : 'are'
  if (status === 'broken' && chains.length > 1) return problem
  if (status === 'broken') {
    return (
      <>
        Entry {broken_at === null ? '' : fullCount(broken_at)} does not follow from the one before it. The{' '}
        {counted(checked, 'entry', 'entries')} before it {isAre} as they were written.
      </>
    )
  }
  if (status === 'checking') {
    return `${fullCount(checked)} of ${counted(entries, 'entry', 'entries')} ${isAre} as they were written.`
  }
  return (
    <>
      {entries === 0
        ? 'There are no entries yet.'
        : `${counted(entries, 'entry', 'entries')}${chains.length > 1 ? ` of ${fullCount(chains.length)} servers` : ''}, ${entries === 1 ? 'as it was written' : 'each as it was written'}.`}{' '}
      {checked_at !== null && (
        <span className={styles.when}>
          Checked <Time at={checked_at} />. Keep a copy of the fingerprint elsewhere: it proves that none is missing at
          the end.
        </span>
      )}
    </>
  )
}
