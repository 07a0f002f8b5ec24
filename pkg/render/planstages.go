package render

import "fmt"

// remarkStages says what an ordered deletion deletes in each stage.
func (p Plan) remarkStages() []remark {
	var all []remark
	for i, s := range p.Stages() {
		line := fmt.Sprintf("stage %d deletes %s", i+1, few(KindNamesOf(p.Graph, s.Objects)))
		if more := len(s.Deleted) - len(s.Objects); more > 0 {
			line += fmt.Sprintf("; %d more go with them", more)
		}
		all = append(all, p.about(line, s.Objects...))
	}
	return all
}

// remarkOrderCycle says why an ordered deletion has no order.
func (p Plan) remarkOrderCycle() []remark {
	if p.Unordered == "" {
		return nil
	}
	return []remark{p.about("there is no order in which all can be deleted: "+Escape(p.Unordered), p.OrderCycle()...)}
}
