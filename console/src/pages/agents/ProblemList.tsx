import type { ValidatedAgent } from 'quarterdeck/client'
import styles from './ProblemList.module.css'

interface ProblemListProps {
  problems: ValidatedAgent['problems']
  onShow: (line: number, column: number) => void
}

/** What is wrong with a text. A press on a problem leads to its line. */
export function ProblemList({ problems, onShow }: ProblemListProps) {
  return (
    <ol className={styles.list}>
      {problems.map(({ line, column, path, message }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
        <li key={i}>
          <button type="button" className={styles.problem} onClick={() => onShow(line, column)}>
            <span className={styles.line}>
              Line {line}, column {column}
            </span>
            <span className={styles.text}>
              {path !== '' && (
                <code>
                  <bdi>{path}</bdi>
                </code>
              )}{' '}
              <bdi>{message}</bdi>
            </span>
          </button>
        </li>
      ))}
    </ol>
  )
}
