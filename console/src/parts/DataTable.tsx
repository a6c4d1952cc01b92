import type { ReactNode } from 'react'
import styles from './DataTable.module.css'

export interface Column<T> {
  name: string
  cell: (row: T) => ReactNode
  /** A figure, which stands at the end of its column. */
  isNumber?: boolean
  /** Left out on a phone. */
  isMinor?: boolean
}

interface DataTableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** The sums, below the rows: a cell for each column. */
  foot?: readonly ReactNode[]
}

/** Rows of facts. The first column names the row. */
export function DataTable<T>({ label, columns, rows, keyOf, foot }: DataTableProps<T>) {
  const marks = (column: Column<T>) => ({
    'data-number': column.isNumber || undefined,
    'data-minor': column.isMinor || undefined,
  })
  return (
    <table className={styles.table} aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" {...marks(column)}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column, i) =>
              i === 0 ? (
                <th key={column.name} scope="row" {...marks(column)}>
                  {column.cell(row)}
                </th>
              ) : (
                <td key={column.name} {...marks(column)}>
                  {column.cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
      {foot !== undefined && (
        <tfoot>
          <tr>
            {columns.map((column, i) => (
              <td key={column.name} {...marks(column)}>
                {foot[i]}
              </td>
            ))}
          </tr>
        </tfoot>
      )}
    </table>
  )
}
