import 'uplot/dist/uPlot.min.css'
import type { Usage } from 'quarterdeck/client'
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import { useShownTheme } from '../../app/theme.ts'
import { axisMoney, moneyText } from '../../money.ts'
import { fullCount, shortCount } from '../../words.ts'
import styles from './UsageChart.module.css'
import { everyDay } from './usage-range.ts'

const HEIGHT = 240
const dayText = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
const axisDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

interface Day {
  key: string
  input_tokens: number
  output_tokens: number
  cost: number | null
}

/** A bar for each day. The table by day has the same figures for those who do not see it. */
export default function UsageChart({ usage, what }: { usage: Usage; what: 'tokens' | 'cost' }) {
  const days = useMemo<Day[]>(
    () => everyDay(usage.rows, usage, (key) => ({ key, input_tokens: 0, output_tokens: 0, cost: 0 })),
    [usage],
  )
  const { currency } = usage
  const place = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState<{ index: number; left: number } | null>(null)
  const theme = useShownTheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the chart are read from the theme
  useEffect(() => {
    const box = place.current
    if (box === null) return
    const chart = new uPlot(optionsOf(box, days, what, currency, setShown), dataOf(days, what), box)
    const observer = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: HEIGHT }))
    observer.observe(box)
    return () => {
      observer.disconnect()
      chart.destroy()
      setShown(null)
    }
  }, [days, what, currency, theme])
  const day = shown === null ? undefined : days[shown.index]
  return (
    <div className={styles.frame}>
      <div
        ref={place}
        className={styles.chart}
        role="img"
        aria-label={`${what === 'tokens' ? 'Tokens' : 'Cost'} by day. The table by day has the same figures.`}
      />
      {what === 'tokens' && (
        <p className={styles.legend} aria-hidden="true">
          <span data-series="input">Input</span>
          <span data-series="output">Output</span>
        </p>
      )}
      {day !== undefined && shown !== null && (
        <div className={styles.tip} style={{ left: shown.left }} aria-hidden="true">
          <strong>{dayText.format(startOf(day))}</strong>
          {what === 'tokens' ? (
            <>
              <span>{fullCount(day.input_tokens)} in</span>
              <span>{fullCount(day.output_tokens)} out</span>
            </>
          ) : (
            <span>{moneyText(day.cost, currency)}</span>
          )}
        </div>
      )}
    </div>
  )
}

const startOf = ({ key }: Day): number => Date.parse(`${key}T00:00:00Z`)

/** Bars that stand on each other: the first one is as high as both together, and the second one lies before it. */
function dataOf(days: readonly Day[], what: 'tokens' | 'cost'): uPlot.AlignedData {
  const places = days.map((_, i) => i)
  if (what === 'cost') return [places, days.map(({ cost }) => cost)]
  return [
    places,
    days.map(({ input_tokens, output_tokens }) => input_tokens + output_tokens),
    days.map(({ output_tokens }) => output_tokens),
  ]
}

function optionsOf(
  box: HTMLElement,
  days: readonly Day[],
  what: 'tokens' | 'cost',
  currency: string,
  onDay: (shown: { index: number; left: number } | null) => void,
): uPlot.Options {
  const style = getComputedStyle(box)
  const colour = (token: string) => style.getPropertyValue(token).trim()
  const font = `12px ${colour('--font')}`
  const [accent, soft, line, faint] = [colour('--accent'), style.color, colour('--line'), colour('--text-faint')]
  const bars = uPlot.paths.bars?.({ size: [0.7, 32], radius: 0.08 })
  const series = (fill: string): uPlot.Series => ({
    fill,
    stroke: fill,
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  })
  return {
    width: box.clientWidth,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { x: false, y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      // Days are places in a row, so that a bar has space at both ends.
      x: { time: false, range: [-0.5, days.length - 0.5] },
      y: { range: (_, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        stroke: faint,
        font,
        grid: { show: false },
        ticks: { show: false },
        incrs: [1, 2, 5, 7, 10, 14, 30, 60, 90],
        space: 70,
        size: 28,
        gap: 8,
        values: (_, places) =>
          places.map((at) => {
            const day = days[at]
            return day === undefined ? '' : axisDay.format(startOf(day))
          }),
      },
      {
        stroke: faint,
        font,
        size: 64,
        space: 40,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        values: (_, values, _axis, _space, step) =>
          values.map((value) => (what === 'cost' ? axisMoney(value, currency, step) : shortCount(value))),
      },
    ],
    series: what === 'cost' ? [{}, series(accent)] : [{}, series(soft), series(accent)],
    hooks: {
      setCursor: [
        (chart) => {
          const { idx, left } = chart.cursor
          if (idx === null || idx === undefined || left === undefined || left < 0) return onDay(null)
          const at = chart.valToPos(idx, 'x') + chart.bbox.left / devicePixelRatio
          onDay({ index: idx, left: Math.min(box.clientWidth - 64, Math.max(64, at)) })
        },
      ],
    },
  }
}
