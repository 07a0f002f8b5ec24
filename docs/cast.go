package docs

import (
	"fmt"
	"strings"
)

// How long things take in a moving picture, in seconds: to type a letter, and to read a screen and
// each of its lines.
const (
	perLetter = 0.04
	perScreen = 3
	perLine   = 0.5
)

// cast draws screens one after the other, over and over: a command is typed, and then what it prints
// is there. Who wants no motion, or has a viewer without any, sees the first.
func cast(screens []screen) string {
	total, columns, lines := 0.0, 0, 0
	for _, s := range screens {
		total += s.typing() + s.reading()
		columns, lines = max(columns, s.widest), max(lines, len(s.lines))
	}
	var style, elements strings.Builder
	fmt.Fprintf(&style, ".scene, .output, .rest { animation: %.1fs infinite step-end }\n", total)
	style.WriteString(".scene { visibility: hidden } .scene.s0 { visibility: visible }\n")
	style.WriteString(".rest { stroke: none; transform: scaleX(0); transform-box: fill-box; transform-origin: right }\n")
	at := 0.0
	for i, s := range screens {
		from, typed, until := percent(at, total), percent(at+s.typing(), total), percent(at+s.typing()+s.reading(), total)
		at += s.typing() + s.reading()
		fmt.Fprintf(&style, "@keyframes s%d { 0%% { visibility: hidden } %s { visibility: visible } %s { visibility: hidden } }\n",
			i, from, until)
		fmt.Fprintf(&style, "@keyframes o%d { 0%% { visibility: hidden } %s { visibility: inherit } }\n", i, typed)
		fmt.Fprintf(&style,
			"@keyframes r%d { 0%% { transform: scaleX(1) } %s { transform: scaleX(1); animation-timing-function: steps(%d) } %s { transform: scaleX(0) } }\n",
			i, from, s.letters(), typed)
		fmt.Fprintf(&style, ".s%d { animation-name: s%[1]d } .s%[1]d .output { animation-name: o%[1]d } .s%[1]d .rest { animation-name: r%[1]d }\n", i)
		fmt.Fprintf(&elements, "<g class=\"scene s%d\">\n%s<rect class=\"rest\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
			i, s.lines[0], margin+letterWidth*len(prompt), margin, letterWidth*s.letters(), lineHeight)
		fmt.Fprintf(&elements, "<g class=\"output\">\n%s</g>\n</g>\n", strings.Join(s.lines[1:], ""))
	}
	style.WriteString("@media (prefers-reduced-motion: reduce) { .scene, .output, .rest { animation: none } }\n")
	return terminal(columns, lines, style.String(), elements.String())
}

// prompt stands before what is typed.
const prompt = "$ "

func (s screen) letters() int { return s.first - len(prompt) }

func (s screen) typing() float64 { return perLetter * float64(s.letters()) }

func (s screen) reading() float64 { return perScreen + perLine*float64(len(s.lines)) }

// percent is a part of a whole as CSS has it.
func percent(part, whole float64) string { return fmt.Sprintf("%.2f%%", 100*part/whole) }
