import type { UsageCounts } from 'quarterdeck/client'
import { moneyText } from '../../money.ts'
import { fullCount, shortCount } from '../../words.ts'
import styles from './Sums.module.css'

/** The sums of the whole range. */
export function Sums({ total, currency }: { total: UsageCounts; currency: string }) {
  const cached = total.input_tokens === 0 ? 0 : Math.round((total.cached_input_tokens / total.input_tokens) * 100)
  return (
    <dl className={styles.sums}>
      <Sum
        name="Cost"
        value={moneyText(total.cost, currency)}
        note={total.cost === null ? 'a model has no price' : currency}
      />
      <Sum name="Tokens" value={shortCount(total.input_tokens + total.output_tokens)} note="input and output" />
      <Sum name="Input" value={shortCount(total.input_tokens)} note={`${cached} % from a cache`} />
      <Sum
        name="Output"
        value={shortCount(total.output_tokens)}
        note={`${shortCount(total.reasoning_tokens)} for reasoning`}
      />
      <Sum name="Runs" value={fullCount(total.runs)} note="that used a model" />
    </dl>
  )
}

function Sum({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div className={styles.sum}>
      <dt>{name}</dt>
      <dd className={styles.value}>{value}</dd>
      <dd className={styles.note}>{note}</dd>
    </div>
  )
}
