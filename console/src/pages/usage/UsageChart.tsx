import 'uplot/dist/uPlot.min.css'
import type { Usage } from 'quarterdeck/client'
import { type CSSProperties, useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import { useShownTheme } from '../../app/theme.ts'
import { axisMoney, moneyText } from '../../money.ts'
import { duration } from '../../parts/Time.tsx'
import { fullCount, shortCount } from '../../words.ts'
import styles from './UsageChart.module.css'
import { type ChartData, type Figure, seriesOf } from './usage-series.ts'

const HEIGHT = 240
/** A limit that is far above everything would leave no space for the bars. */
const FAR = 3
const dayText = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
const axisDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

interface ChartProps {
  usage: Usage
  what: Figure
  /** What may be used in a day. */
  limit: number | null
}

/** A bar or a point for each day. The table by day has the same figures for those who do not see it. */
export default function UsageChart({ usage, what, limit }: ChartProps) {
  const { currency } = usage
  const data = useMemo(() => seriesOf(usage, what), [usage, what])
  const place = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState<{ index: number; left: number } | null>(null)
  const theme = useShownTheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the chart are read from the theme
  useEffect(() => {
    const box = place.current
    if (box === null) return
    const chart = new uPlot(optionsOf(box, data, { what, currency, limit }, setShown), dataOf(data), box)
    const observer = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: HEIGHT }))
    observer.observe(box)
    return () => {
      observer.disconnect()
      chart.destroy()
      setShown(null)
    }
  }, [data, what, currency, limit, theme])
  const day = shown === null ? undefined : data.days[shown.index]
  return (
    <div className={styles.frame}>
      <div
        ref={place}
        className={styles.chart}
        role="img"
        aria-label="By day. The table by day has the same figures."
      />
      {(data.series.length > 1 || limit !== null) && (
        <p className={styles.legend} aria-hidden="true">
          {data.series.map(({ name }, i) => (
            <span key={name} style={tintOf(i)}>
              <bdi>{name}</bdi>
            </span>
          ))}
          {limit !== null && <span className={styles.limit}>Limit of a day</span>}
        </p>
      )}
      {day !== undefined && shown !== null && (
        <div className={styles.tip} style={{ left: shown.left }} aria-hidden="true">
          <strong>{dayText.format(startOf(day))}</strong>
          {data.series.map(({ name, values }) => (
            <span key={name}>
              {data.series.length > 1 && <bdi>{name} </bdi>}
              {valueText(values[shown.index] ?? null, what, currency)}
            </span>
          ))}
        </div>
      )}
    </div>
  )
}

const tintOf = (series: number) => ({ '--tint': `var(--chart-${series + 1})` }) as CSSProperties

const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`)

function valueText(value: number | null, what: Figure, currency: string): string {
  if (value === null) return '–'
  if (what === 'cost') return moneyText(value, currency)
  if (what === 'speed') return duration(value)
  return what === 'errors' ? `${value.toFixed(value < 10 ? 1 : 0)} %` : fullCount(value)
}

function axisText(value: number, what: Figure, currency: string, step: number): string {
  if (what === 'cost') return axisMoney(value, currency, step)
  if (what === 'speed') return duration(value)
  return what === 'errors' ? `${shortCount(value)} %` : shortCount(value)
}

/** Of bars that stand on each other, the first one is as high as all together, and the next ones lie before it. */
function dataOf({ days, series, isStacked }: ChartData): uPlot.AlignedData {
  const drawn = series.map(({ values }, i) =>
    isStacked ? values.map((_, day) => series.slice(i).reduce((sum, one) => sum + (one.values[day] ?? 0), 0)) : values,
  )
  return [days.map((_, i) => i), ...drawn]
}

function optionsOf(
  box: HTMLElement,
  { days, series, isStacked }: ChartData,
  { what, currency, limit }: { what: Figure; currency: string; limit: number | null },
  onDay: (shown: { index: number; left: number } | null) => void,
): uPlot.Options {
  const style = getComputedStyle(box)
  const colour = (token: string) => style.getPropertyValue(token).trim()
  const font = `12px ${colour('--font')}`
  const [line, faint] = [colour('--line'), colour('--text-faint')]
  const bars = uPlot.paths.bars?.({ size: [0.7, 32], radius: 0.08 })
  const drawn = (_: unknown, i: number): uPlot.Series => {
    const tint = colour(`--chart-${i + 1}`)
    if (!isStacked) return { stroke: tint, width: 2, spanGaps: true, points: { show: true, size: 6, fill: tint } }
    return {
      fill: tint,
      stroke: tint,
      width: 0,
      points: { show: false },
      ...(bars === undefined ? {} : { paths: bars }),
    }
  }
  const withLimit = (max: number) => (limit !== null && limit <= max * FAR ? Math.max(max, limit) : max)
  return {
    width: box.clientWidth,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { x: false, y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      // Days are places in a row, so that a bar has space at both ends.
      x: { time: false, range: [-0.5, days.length - 0.5] },
      y: { range: (_, _min, max) => [0, max > 0 ? withLimit(max) * 1.08 : 1] },
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
        values: (_, values, _axis, _space, step) => values.map((value) => axisText(value, what, currency, step)),
      },
    ],
    series: [{}, ...series.map(drawn)],
    hooks: {
      draw: [
        ({ ctx, bbox, valToPos }) =>
          limit !== null && drawLimit(ctx, bbox, valToPos(limit, 'y', true), colour('--bad')),
      ],
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

function drawLimit(ctx: CanvasRenderingContext2D, { left, top, width }: uPlot.BBox, y: number, colour: string): void {
  if (y < top) return
  ctx.save()
  ctx.strokeStyle = colour
  ctx.lineWidth = 1.5 * devicePixelRatio
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
  ctx.beginPath()
  ctx.moveTo(left, y)
  ctx.lineTo(left + width, y)
  ctx.stroke()
  ctx.restore()
}
