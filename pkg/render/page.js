// The script of the page: it shows what is in the block of JSON, and asks nobody for anything. All text goes through clean() and becomes a text node, or is drawn.
'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($('data').textContent);

  // ---- Text

  // What would not be seen, or reverses the direction of writing, is spelled out.
  const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  const clean = (text) => String(text).replace(unsafe, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  const count = (n, word) => n + ' ' + word + (n === 1 ? '' : 's');

  // el makes an element. What is not an element in it becomes text.
  function el(tag, attributes, ...content) {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === 'onclick') e.addEventListener('click', value);
      else e.setAttribute(name, value);
    }
    for (const c of content.flat()) if (c !== null && c !== undefined) e.append(c instanceof Node ? c : document.createTextNode(clean(c)));
    return e;
  }

  // ---- Objects

  const objects = data.objects;
  const roots = [];
  objects.forEach((o, i) => {
    Object.assign(o, { i, kids: [], owners: [], dependents: [], open: true, level: 1, via: null });
    o.label = o.kind + '/' + o.name;
    o.text = [o.kind, o.resource, o.namespace, o.name, o.uid, o.apiVersion, o.state, o.status, o.outcome && o.outcome.word, ...(o.finalizers || []).map((f) => f.name)].join(' ').toLowerCase();
  });
  for (const o of objects) {
    const siblings = o.parent < 0 ? roots : objects[o.parent].kids;
    o.at = siblings.push(o);
    o.siblings = siblings;
    if (o.parent >= 0) o.level = objects[o.parent].level + 1;
  }
  const isVia = (e, o) => o.parent >= 0 && (data.upwards ? e.dependent === o.parent && e.owner === o.i : e.owner === o.parent && e.dependent === o.i);
  const others = []; // edges besides those by which the objects stand below each other
  for (const e of data.edges) {
    objects[e.dependent].owners.push(e);
    objects[e.owner].dependents.push(e);
    const below = objects[data.upwards ? e.owner : e.dependent];
    if (!below.via && isVia(e, below)) below.via = e;
    else if (!isVia(e, below)) others.push(e);
  }
  const namespaces = new Set(objects.map((o) => o.namespace || ''));
  const stuck = new Map(data.stuck.map((s) => [s.object.uid, s]));
  const byUID = new Map(objects.filter((o) => o.uid).map((o) => [o.uid, o]));

  // ---- What an object's colour says

  const paint = {
    active: 'quiet', deleting: 'warn', absent: 'bad', unknown: 'unknown', deleted: 'warn', kept: 'good', orphaned: 'away', unblocked: 'away',
    protected: 'bad', stuck: 'bad', deadlocked: 'bad', forbidden: 'bad', destroyed: 'bad', 'not begun': 'quiet', gone: 'quiet', terminating: 'warn',
  };
  let step = -1; // of the plan; -1 shows what comes of all of it
  const steps = data.plan ? data.plan.steps : [];
  const begins = new Map(), ends = new Map(); // of the writes that delete an object, by step
  steps.forEach((s, n) => s.actions.forEach((a) => {
    if (a.verb !== 'delete' && a.verb !== 'removeFinalizer' && a.verb !== 'finalizeNamespace') return;
    if (!begins.has(a.object)) begins.set(a.object, n);
    ends.set(a.object, n);
  }));
  const deletes = (o) => o.outcome && (o.outcome.word === 'deleted' || o.outcome.word === 'destroyed');

  function word(o) {
    const w = o.outcome && o.outcome.word;
    if (step >= 0 && begins.has(o.i) && w !== 'protected' && w !== 'forbidden') {
      if (step < begins.get(o.i)) return 'not begun';
      if (!deletes(o)) return w;
      return step < ends.get(o.i) || o.outcome.waitsFor && step === ends.get(o.i) ? 'terminating' : step === ends.get(o.i) ? 'deleted' : 'gone';
    }
    return w || o.state.toLowerCase();
  }
  const acts = (o) => step >= 0 && acting.has(o.i);
  let acting = new Set();

  // ---- Where things stand

  const W = 216, H = 42, GAP = 8, COLUMN = 12;
  const STEP = data.edges.some((e) => e.link) ? 104 : 56; // between an object and those below it; links have their names there
  const MANY = 12; // so many leaves in a row become a block of several columns
  const MARGIN = 24;
  let shown = [], width = 0, height = 0;

  function layout() {
    shown = [];
    const blocks = roots.map((root) => {
      const from = shown.length;
      const size = place(root);
      return { from, to: shown.length, ...size };
    });
    // The trees stand in columns, which get higher until the whole is not much wider than high.
    const widest = blocks.reduce((most, b) => Math.max(most, b.w), 0);
    for (let most = 640; ; most *= 1.3) {
      columns(blocks, most);
      if (width <= 1.7 * height || width <= widest) break;
    }
    for (const b of blocks) for (let i = b.from; i < b.to; i++) { shown[i].x += b.x; shown[i].y += b.y; }
    shown.forEach((o, i) => { o.row = i; });
    drawnMap = null;
    redraw();
  }

  function columns(blocks, most) {
    let x = 0, y = 0, widest = 0;
    width = height = 0;
    for (const b of blocks) {
      if (y > 0 && y + b.h > most) { x += widest + 40; y = widest = 0; }
      b.x = x; b.y = y;
      widest = Math.max(widest, b.w);
      width = Math.max(width, x + b.w);
      height = Math.max(height, y + b.h);
      y += b.h + 16;
    }
  }

  // place puts an object and what is below it into the corner at 0, 0. Trees can be deep, so that it does not call itself.
  function place(root) {
    let y = 0, w = 0;
    const stack = [{ o: root, x: 0 }];
    while (stack.length > 0) {
      const { o, x, grid } = stack.pop();
      o.x = x; o.y = y; o.gridAt = null;
      w = Math.max(w, x + W);
      shown.push(o);
      if (grid) {
        for (const leaf of grid) {
          if (leaf !== o) shown.push(leaf);
        }
        const rows = Math.ceil(grid.length / Math.max(1, Math.round(Math.sqrt(grid.length * (H + GAP) * 1.7 / (W + COLUMN)))));
        grid.forEach((leaf, i) => {
          const c = Math.floor(i / rows);
          leaf.x = x + c * (W + COLUMN); leaf.y = y + (i % rows) * (H + GAP); leaf.gridAt = { rows, i, grid };
          w = Math.max(w, leaf.x + W);
        });
        y += rows * (H + GAP);
        continue;
      }
      if (!o.open || o.kids.length === 0) { y += H + GAP; continue; }
      const below = [];
      for (let i = 0; i < o.kids.length;) {
        let j = i;
        while (j < o.kids.length && (o.kids[j].kids.length === 0 || !o.kids[j].open)) j++;
        if (j - i > MANY) { below.push({ o: o.kids[i], x: x + W + STEP, grid: o.kids.slice(i, j) }); i = j; continue; }
        for (j = Math.max(j, i + 1); i < j; i++) below.push({ o: o.kids[i], x: x + W + STEP });
      }
      while (below.length > 0) stack.push(below.pop());
    }
    return { w, h: y - GAP };
  }

  // ---- View

  const canvas = $('canvas'), context = canvas.getContext('2d');
  const tree = $('tree'), map = $('map');
  const view = { x: 0, y: 0, z: 1 }; // screen = (world - x, y) * z
  let size = { w: 1, h: 1, ratio: 1 }, dirty = false, chosen = null, matches = [], match = -1, query = '';
  const still = matchMedia('(prefers-reduced-motion: reduce)');
  const MIN = 0.005, MAX = 2.5;

  function redraw() {
    if (dirty) return;
    dirty = true;
    requestAnimationFrame(() => { dirty = false; draw(); });
  }

  function moveTo(x, y, z) {
    moving = null;
    const to = bounded({ x, y, z });
    if (still.matches) { Object.assign(view, to); redraw(); return; }
    moving = { from: { ...view }, to, began: performance.now() };
    redraw();
  }
  let moving = null;

  function bounded(v) {
    const z = Math.min(MAX, Math.max(MIN, v.z));
    const within = (at, length, screen) => Math.min(Math.max(at, -screen / z + 60), length - 60);
    return { z, x: within(v.x, width, size.w), y: within(v.y, height, size.h) };
  }

  function move(now) {
    const t = Math.min(1, (now - moving.began) / 160), eased = 1 - (1 - t) ** 3;
    for (const key of ['x', 'y', 'z']) view[key] = moving.from[key] + (moving.to[key] - moving.from[key]) * eased;
    if (t < 1) redraw();
    else moving = null;
  }

  function zoom(by, at) {
    const p = at || { x: size.w / 2, y: size.h / 2 };
    const now = moving ? moving.to : view;
    const z = Math.min(MAX, Math.max(MIN, now.z * by));
    const next = { x: now.x + p.x / now.z - p.x / z, y: now.y + p.y / now.z - p.y / z, z };
    if (at) { moving = null; Object.assign(view, bounded(next)); redraw(); } else moveTo(next.x, next.y, next.z);
  }

  function fit(least) {
    const all = Math.min(size.w / (width + 2 * MARGIN), (size.h - 40) / (height + 2 * MARGIN), 1);
    const z = Math.max(all, least || MIN);
    const centred = (length, screen) => length * z + 2 * MARGIN * z < screen ? -(screen / z - length) / 2 : -MARGIN;
    moveTo(centred(width, size.w), z === all ? centred(height, size.h - 40) : -MARGIN, z);
  }

  // bring moves the view as little as it takes to show an object.
  function bring(o) {
    const now = moving ? moving.to : view;
    const z = Math.max(now.z, 0.45), pad = 36 / z;
    const w = size.w / z, h = size.h / z;
    let { x, y } = now;
    if (z !== now.z) { x = o.x + W / 2 - w / 2; y = o.y + H / 2 - h / 2; }
    if (o.x - pad < x) x = o.x - pad;
    if (o.x + W + pad > x + w) x = o.x + W + pad - w;
    if (o.y - pad < y) y = o.y - pad;
    if (o.y + H + 2 * pad > y + h) y = o.y + H + 2 * pad - h;
    if (x !== now.x || y !== now.y || z !== now.z) moveTo(x, y, z);
    else redraw();
  }

  // ---- Drawing

  const ink = {};
  function readInk() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['page', 'card', 'text', 'dim', 'line', 'edge', 'accent', 'quiet', 'quiet-tint', 'warn', 'warn-tint', 'bad', 'bad-tint', 'unknown', 'unknown-tint', 'good', 'good-tint', 'away', 'away-tint']) {
      ink[name] = style.getPropertyValue('--' + name).trim();
    }
    ink.font = getComputedStyle(document.body).fontFamily;
    drawnMap = null;
    redraw();
  }

  function cut(text, room, key, o) { // measured once, as that takes long
    const cache = o.cut_ || (o.cut_ = {});
    const known = cache[key];
    if (known && known.room === room && known.text === text) return known.short;
    let short = text;
    if (context.measureText(text).width > room) {
      let low = 0, high = text.length;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (context.measureText(text.slice(0, middle) + '…').width <= room) low = middle; else high = middle - 1;
      }
      short = text.slice(0, low) + '…';
    }
    cache[key] = { room, text, short };
    return short;
  }

  function draw() {
    if (!placed) return; // it is not known yet how large the graph is to be
    if (moving) move(performance.now());
    const { w, h, ratio } = size;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = ink.page;
    context.fillRect(0, 0, w, h);
    context.setTransform(ratio * view.z, 0, 0, ratio * view.z, -view.x * view.z * ratio, -view.y * view.z * ratio);
    const box = { x0: view.x, y0: view.y, x1: view.x + w / view.z, y1: view.y + h / view.z };
    drawEdges(box);
    const seen = shown.filter((o) => o.x < box.x1 && o.x + W > box.x0 - STEP && o.y < box.y1 && o.y + H > box.y0);
    const readable = view.z >= 0.4;
    if (readable) {
      for (const o of seen) drawObject(o);
      for (const o of seen) drawMarks(o);
    } else drawFar(seen);
    drawMap(box);
  }

  function drawEdges(box) {
    const solid = new Path2D(), dotted = new Path2D(), heads = new Path2D();
    const named = [];
    const last = new Map(); // how far down the line from an object goes already
    const trunk = 20;
    for (const o of shown) {
      if (o.parent < 0) continue;
      const above = objects[o.parent];
      const y = o.y + H / 2, inBlock = o.gridAt && o.gridAt.i >= o.gridAt.rows;
      const line = o.via && o.via.link ? dotted : solid;
      if (inBlock) {
        if (o.y < box.y1 && o.y + H > box.y0 && o.x < box.x1 && o.x > box.x0) { line.moveTo(o.x - COLUMN, y); line.lineTo(o.x, y); }
        continue;
      }
      const x = above.x + W + trunk, from = last.get(above) ?? above.y + H / 2;
      last.set(above, y);
      if (x > box.x1 || o.x < box.x0 || y < box.y0 && from < box.y0 || from > box.y1) continue;
      if (from === above.y + H / 2) { solid.moveTo(above.x + W, from); solid.lineTo(x, from); }
      solid.moveTo(x, from); solid.lineTo(x, y);
      if (y < box.y0 || y > box.y1) continue;
      line.moveTo(x, y); line.lineTo(o.x, y);
      if (data.upwards) { heads.moveTo(x + 2, y); heads.lineTo(x + 10, y - 4); heads.lineTo(x + 10, y + 4); } else { heads.moveTo(o.x, y); heads.lineTo(o.x - 8, y - 4); heads.lineTo(o.x - 8, y + 4); }
      if (o.via && o.via.link) named.push([o, x, y]);
    }
    context.strokeStyle = context.fillStyle = ink.edge;
    context.lineWidth = Math.max(1.2, 0.6 / view.z);
    context.stroke(solid);
    context.setLineDash([2, 4]);
    context.stroke(dotted);
    drawOthers(box);
    context.setLineDash([]);
    if (view.z < 0.4) return;
    context.fillStyle = ink.edge;
    context.fill(heads);
    context.fillStyle = ink.dim;
    context.font = '11px ' + ink.font;
    for (const [o, x, y] of named) context.fillText(cut(clean(o.via.link), o.x - x - 12, 'link', o), x + 6, y - 5);
  }

  // drawOthers draws the further owners: those of the selected object strongly, and the others if they are not too many to tell one from another.
  function drawOthers(box) {
    const few = others.length <= 500;
    for (const mine of few ? [false, true] : [true]) {
      const solid = new Path2D(), dotted = new Path2D();
      let drawn = 0;
      for (const e of others) {
        if ((chosen && (e.owner === chosen.i || e.dependent === chosen.i)) !== mine && !(chosen === null && !mine)) continue;
        const a = objects[e.owner], b = objects[e.dependent];
        if (a.row === undefined || b.row === undefined || shown[a.row] !== a || shown[b.row] !== b) continue;
        if (Math.max(a.x, b.x) + W + 80 < box.x0 || Math.min(a.x, b.x) - 80 > box.x1 || Math.max(a.y, b.y) + H < box.y0 || Math.min(a.y, b.y) > box.y1) continue;
        drawn++;
        const path = e.link ? dotted : solid;
        const ax = a.x + W, ay = a.y + H - 8, by = b.y + H - 8;
        const bend = Math.min(80, 24 + Math.abs(by - ay) / 4);
        path.moveTo(ax, ay);
        if (b.x >= ax) path.bezierCurveTo(ax + bend, ay, b.x - bend, by, b.x, by);
        else path.bezierCurveTo(ax + bend, ay, b.x + W + bend, by, b.x + W, by);
      }
      context.globalAlpha = drawn > 60 ? 0.25 : 1; // or nothing else is seen
      context.strokeStyle = mine ? ink.accent : ink.line;
      context.lineWidth = Math.max(mine ? 2 : 1.2, 0.6 / view.z);
      context.setLineDash([]);
      context.stroke(solid);
      context.setLineDash([2, 4]);
      context.stroke(dotted);
      context.globalAlpha = 1;
    }
  }

  const colors = (o) => { const name = paint[word(o)] || 'quiet'; return { of: ink[name], tint: ink[name + '-tint'] }; };

  const isFaint = (o, w) => query !== '' && !o.matches || w === 'gone';

  // drawFar draws objects that are too far away to be read: those of one colour together, since there can be thousands.
  function drawFar(seen) {
    const paths = new Map();
    for (const o of seen) {
      const w = word(o), key = (paint[w] || 'quiet') + (isFaint(o, w) ? ' faint' : '');
      if (!paths.has(key)) paths.set(key, new Path2D());
      paths.get(key).rect(o.x, o.y, W, H);
    }
    for (const [key, path] of paths) {
      const [name, faint] = key.split(' ');
      context.fillStyle = ink.page;
      if (faint) context.fill(path);
      context.globalAlpha = faint ? 0.3 : 1;
      context.fillStyle = ink[name];
      context.fill(path);
      context.globalAlpha = 1;
    }
    for (const o of seen) if (acts(o) || o === chosen) drawRing(o);
  }

  function drawRing(o) {
    context.strokeStyle = o === chosen ? ink.accent : colors(o).of;
    context.lineWidth = Math.max(2.5, 2 / view.z);
    context.beginPath();
    context.roundRect(o.x - 2, o.y - 2, W + 4, H + 4, 8);
    context.stroke();
  }

  function drawObject(o) {
    const w = word(o), { of, tint } = colors(o);
    context.beginPath();
    context.roundRect(o.x, o.y, W, H, 6);
    if (isFaint(o, w)) { context.fillStyle = ink.page; context.fill(); context.globalAlpha = 0.4; }
    context.fillStyle = tint;
    context.fill();
    if (o.state === 'Absent' || o.state === 'Unknown' || w === 'gone') context.setLineDash([5, 3]);
    context.strokeStyle = paint[w] === 'quiet' ? ink.line : of;
    context.lineWidth = 1;
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = of;
    context.fillRect(o.x + 1, o.y + 7, 4, H - 14);
    const room = W - 24;
    let said = '';
    if (w !== 'active') said = w === 'unknown' ? 'unknown ?' : w;
    else if (o.failing) said = 'failing';
    else if (o.ready || o.status) said = o.ready || o.status;
    context.font = '600 11px ' + ink.font;
    let left = room;
    if (said) {
      const short = cut(clean(said), 84, 'said', o), taken = context.measureText(short).width;
      context.fillStyle = w === 'active' && !o.failing ? ink.dim : w === 'active' ? ink.warn : of;
      context.fillText(short, o.x + W - 10 - taken, o.y + 16);
      left -= taken + 8;
    }
    context.fillStyle = ink.dim;
    context.font = '11px ' + ink.font;
    const kind = namespaces.size > 1 && o.namespace ? o.kind + ' in ' + o.namespace : o.kind;
    context.fillText(cut(clean(kind), left, 'kind', o), o.x + 14, o.y + 16);
    context.fillStyle = ink.text;
    context.font = (o.root ? '600 ' : '') + '13px ' + ink.font;
    context.fillText(cut(clean(o.name), room, 'name', o), o.x + 14, o.y + 33);
    context.globalAlpha = 1;
    if (acts(o) || o === chosen) drawRing(o);
  }

  // drawMarks draws the button that collapses or expands an object.
  function drawMarks(o) {
    if (o.kids.length === 0) return;
    const text = o.open ? '−' : '+' + o.kids.length;
    context.font = '600 11px ' + ink.font;
    const wide = Math.max(16, context.measureText(text).width + 8);
    context.beginPath();
    context.roundRect(o.x + W - 8, o.y + H / 2 - 8, wide, 16, 8);
    context.fillStyle = ink.card;
    context.strokeStyle = ink.edge;
    context.lineWidth = 1;
    context.fill();
    context.stroke();
    context.fillStyle = ink.text;
    context.textAlign = 'center';
    context.fillText(text, o.x + W - 8 + wide / 2, o.y + H / 2 + 4);
    context.textAlign = 'start';
  }

  let drawnMap = null; // the objects of the map, which are drawn once
  function drawMap(box) {
    const all = box.x0 <= 0 && box.y0 <= 0 && box.x1 >= width && box.y1 >= height;
    map.hidden = all || shown.length < 2;
    if (map.hidden) return;
    const w = 200, h = 132, z = Math.min(w / (width + 40), h / (height + 40)), c = map.getContext('2d');
    if (!drawnMap) {
      drawnMap = document.createElement('canvas');
      drawnMap.width = w * size.ratio; drawnMap.height = h * size.ratio;
      const d = drawnMap.getContext('2d');
      d.scale(size.ratio, size.ratio);
      for (const o of shown) {
        d.fillStyle = colors(o).of;
        d.fillRect((o.x + 20) * z, (o.y + 20) * z, Math.max(1, W * z), Math.max(0.8, H * z));
      }
    }
    map.width = drawnMap.width; map.height = drawnMap.height;
    c.drawImage(drawnMap, 0, 0);
    c.scale(size.ratio, size.ratio);
    c.strokeStyle = ink.accent;
    c.lineWidth = 2;
    c.strokeRect((box.x0 + 20) * z, (box.y0 + 20) * z, Math.max(4, (box.x1 - box.x0) * z), Math.max(4, (box.y1 - box.y0) * z));
  }

  // ---- Selecting

  function spoken(o) {
    const w = word(o);
    return [o.kind + ' ' + o.name, o.namespace && 'in ' + o.namespace, w !== o.state.toLowerCase() && w, o.state, o.status, o.via && o.via.link && 'link ' + o.via.link,
      o.finalizers && count(o.finalizers.length, 'finalizer')].filter(Boolean).join(', ');
  }

  function describeTree() {
    if (!chosen) { tree.replaceChildren(); tree.removeAttribute('aria-activedescendant'); return; }
    const item = el('div', { role: 'treeitem', id: 'item-' + chosen.i, 'aria-selected': 'true', 'aria-level': chosen.level, 'aria-posinset': chosen.at, 'aria-setsize': chosen.siblings.length }, spoken(chosen));
    if (chosen.kids.length > 0) item.setAttribute('aria-expanded', String(chosen.open));
    tree.replaceChildren(item);
    tree.setAttribute('aria-activedescendant', item.id);
  }

  function select(o, silent) {
    reveal(o);
    chosen = o;
    describeTree();
    describe(o);
    if (silent) redraw(); else bring(o);
  }

  // reveal expands all that an object stands below.
  function reveal(o) {
    let changed = false;
    for (let p = o.parent; p >= 0; p = objects[p].parent) {
      if (!objects[p].open) { objects[p].open = true; changed = true; }
    }
    if (changed) layout();
  }

  function toggle(o, open) {
    if (o.kids.length === 0) return;
    o.open = open === undefined ? !o.open : open;
    if (chosen && !o.open && isBelow(chosen, o)) chosen = o;
    layout();
    select(chosen || o);
    $('says').textContent = clean(o.label) + (o.open ? ' expanded, ' : ' collapsed, ') + count(shown.length, 'object') + ' of ' + objects.length + ' shown';
  }

  function isBelow(o, above) {
    for (let p = o.parent; p >= 0; p = objects[p].parent) if (objects[p] === above) return true;
    return false;
  }

  function foldAll(open) {
    for (const o of objects) o.open = open;
    if (!open && chosen) while (chosen.parent >= 0) chosen = objects[chosen.parent];
    layout();
    describeFold();
    if (chosen) select(chosen, true);
    fit(0.45);
    $('says').textContent = count(shown.length, 'object') + ' of ' + objects.length + ' shown';
  }

  const isFolded = () => objects.some((o) => o.kids.length > 0 && !o.open);
  function describeFold() {
    $('fold').textContent = isFolded() ? 'Expand all' : 'Collapse all';
    $('fold').title = isFolded() ? 'Expand all (E)' : 'Collapse all (e)';
    $('fold').disabled = !objects.some((o) => o.kids.length > 0);
  }

  // walk goes to a neighbour, as a tree of ARIA does, and within a block to its columns.
  function walk(key) {
    const o = chosen || shown[0];
    if (!o) return;
    if (!chosen) { select(o); return; }
    const g = o.gridAt;
    switch (key) {
      case 'ArrowDown': if (shown[o.row + 1]) select(shown[o.row + 1]); break;
      case 'ArrowUp': if (shown[o.row - 1]) select(shown[o.row - 1]); break;
      case 'ArrowRight':
        if (o.kids.length > 0 && !o.open) toggle(o, true);
        else if (o.kids.length > 0) select(o.kids[0]);
        else if (g && g.grid[g.i + g.rows]) select(g.grid[g.i + g.rows]);
        break;
      case 'ArrowLeft':
        if (g && g.i >= g.rows) select(g.grid[g.i - g.rows]);
        else if (o.parent >= 0) select(objects[o.parent]);
        break;
      case 'Home': select(shown[0]); break;
      case 'End': select(shown[shown.length - 1]); break;
    }
  }

  // ---- The panel

  const MOST = 100; // of a list
  const few = (list, line) => [...list.slice(0, MOST).map(line), list.length > MOST ? el('li', { class: 'dim' }, 'and ' + (list.length - MOST) + ' more') : null];
  const link = (o, text) => el('button', { type: 'button', class: 'link', onclick: () => { select(o); } }, text || o.label);
  const mark = (text) => { const name = paint[text] || 'quiet'; const e = el('span', { class: 'mark' }, text); tinted(e, name); return e; };
  function tinted(e, name) { e.style.setProperty('--of', 'var(--' + name + ')'); e.style.setProperty('--tint', 'var(--' + name + '-tint)'); }
  const named = (ref) => { const o = byUID.get(ref.uid); const text = ref.kind + '/' + ref.name + (ref.namespace ? ' in ' + ref.namespace : ''); return o ? link(o, text) : text; };
  const terms = (...pairs) => el('dl', null, pairs.filter((p) => p && p[1]).map(([term, what]) => [el('dt', null, term), el('dd', null, what)]).flat());
  const flags = (e) => [e.link && 'link ' + e.link, e.controller && 'controller', e.blockOwnerDeletion && 'blockOwnerDeletion', ...(e.problems || [])].filter(Boolean).join(', ');
  const line = (content, e) => { const f = flags(e); return el('li', null, content, f ? el('span', { class: 'dim' }, ' (' + f + ')') : null); };

  function describe(o) {
    const state = o.state === 'Deleting' && o.deletingFor ? 'Deleting for ' + o.deletingFor : o.state;
    const parts = [
      el('h2', null, o.label),
      el('div', null, mark(o.state.toLowerCase()), o.outcome && o.outcome.word && o.outcome.word !== o.state.toLowerCase() ? mark(o.outcome.word) : null),
      terms(
        ['Type', (o.resource || o.kind) + ', ' + o.apiVersion], ['Namespace', o.namespace || 'none'], ['Name', o.name], ['UID', o.uid || 'none'], ['Age', o.age || 'unknown'],
        ['State', state], ['Status', o.status], ['Ready', o.ready], o.cycle && ['Cycle', 'it owns itself, directly or indirectly'],
      ),
    ];
    if (o.state === 'Absent') parts.push(el('p', null, 'A reference names it, and it is not among the objects of its type, all of which were listed.'));
    if (o.state === 'Unknown') parts.push(el('p', { class: 'bad' }, 'A reference names it, and it could not be looked for. Unknown is not absent.'));
    if (o.failing) parts.push(el('h3', null, 'Failing condition'), terms([o.failing.type, o.failing.status + (o.failing.reason ? ', ' + o.failing.reason : '')], ['Message', o.failing.message]));
    if (o.outcome) parts.push(el('h3', null, 'In the plan'), terms(['Outcome', o.outcome.word || 'nothing is done to it'], ['Because', o.outcome.because], ['Waits for', o.outcome.waitsFor], ['Policy', o.outcome.policy], ['When', when(o)]));
    parts.push(...why(o));
    const elsewhere = o.elsewhere || [];
    parts.push(el('h3', null, 'Owners'));
    if (o.owners.length + elsewhere.length === 0) parts.push(el('p', { class: 'dim' }, 'none'));
    else parts.push(el('ul', { class: 'list' }, few(o.owners, (e) => line(link(objects[e.owner]), e)), few(elsewhere, (e) => line(e.kind + '/' + e.name + ', not on this page', e))));
    if (o.dependents.length > 0) parts.push(el('h3', null, 'Dependents'), el('ul', { class: 'list' }, few(o.dependents, (e) => line(link(objects[e.dependent]), e))));
    if (o.cut) parts.push(el('p', null, count(o.cut, data.upwards ? 'owner' : 'dependent') + ' not on this page, because of --depth'));
    parts.push(el('h3', null, 'Finalizers'));
    if (o.finalizers) parts.push(...o.finalizers.map((f) => finalizer(f.name, data.known[f.known])));
    else parts.push(el('p', { class: 'dim' }, 'none'));
    $('object').replaceChildren(...parts.filter(Boolean));
  }

  const when = (o) => steps.filter((s) => s.actions.some((a) => a.object === o.i)).map((s) => s.name).join(', ');

  function finalizer(name, known) {
    const box = el('div', { class: 'box' }, el('h4', null, name));
    if (!known || !known.known && !known.byFormOnly) {
      box.append(el('p', null, 'Nothing is known of this finalizer: who removes it, and what leaks without that, is unknown.'));
      return box;
    }
    const risky = known.risk && known.risk !== 'none';
    if (risky) tinted(box, 'bad');
    if (known.byFormOnly) box.append(el('p', { class: 'dim' }, 'Known only by the form of its name: the following is likely, not certain.'));
    box.append(terms(
      ['Removed by', known.actor + (known.component && known.component !== known.actor ? ' (' + known.component + ')' : '')], ['Which first', known.does], ['By hand', known.ifRemoved],
      ['Risk', known.risk && known.risk + (data.risks && data.risks[known.risk] ? ': ' + data.risks[known.risk] : '')], ['Do first', known.before], ['Note', known.note],
    ));
    return box;
  }

  function why(o) {
    if (o.state !== 'Deleting') return [];
    const heading = el('h3', null, 'Why it still exists');
    const s = stuck.get(o.uid);
    if (data.undiagnosed) return [heading, el('p', { class: 'bad' }, 'It is not known why: ' + data.undiagnosed)];
    if (!s) return [heading, el('p', { class: 'dim' }, 'It was not there any more when its deletion was looked at.')];
    const causes = s.causes.map((c) => {
      const box = el('div', { class: 'box' }, el('h4', null, c.code), c.summary ? el('p', null, c.summary) : null);
      tinted(box, 'warn');
      box.append(terms(['In', c.object.uid === o.uid ? null : named(c.object)], ['Waits via', c.via && c.via.map((v) => v.kind + '/' + v.name).join(', ')], ['Finalizer', c.finalizer], ['Actor', c.actor]));
      if (c.evidence.length > 0) box.append(el('h4', null, 'Evidence'), el('ul', { class: 'list' }, c.evidence.map((e) => el('li', null, e))));
      if (c.cost) box.append(el('h4', null, 'Cost'), el('p', { class: c.dataLoss ? 'bad' : '' }, c.cost));
      box.append(el('h4', null, 'Cure'), el('p', null, c.remedy));
      for (const step of c.steps || c.commands.map((command) => ({ command }))) {
        box.append(el('code', { class: 'command' }, step.command));
        if (step.does || step.risk) box.append(el('p', { class: 'dim' }, [step.does, step.risk && step.risk !== 'none' && 'risk: ' + step.risk].filter(Boolean).join('; ')));
      }
      return box;
    });
    if (s.sampled) causes.unshift(el('p', { class: 'dim' }, 'It was not looked at itself: the evidence names another object that is like it.'));
    if (s.causes.length === 0) causes.push(el('p', null, 'No cause was found.' + (s.checked ? ' Looked at: ' + s.checked.join(', ') + '.' : '')));
    return [heading, ...causes];
  }

  // ---- The plan

  function showPlan() {
    if (!data.plan) return;
    const p = data.plan, panel = $('plan');
    panel.hidden = false;
    const note = el('p', { id: 'step', role: 'status' });
    const previous = el('button', { type: 'button', id: 'previous', 'aria-keyshortcuts': 'p', title: 'Previous step (p)', onclick: () => go(step - 1) }, 'Back');
    const next = el('button', { type: 'button', id: 'next', 'aria-keyshortcuts': 'n', title: 'Next step (n)', onclick: () => go(step + 1) }, 'Next');
    const whole = el('button', { type: 'button', id: 'whole', onclick: () => go(-1) }, 'Whole plan');
    panel.replaceChildren(
      el('h2', null, 'Plan'), el('p', null, p.summary),
      el('ul', { class: 'list' }, (p.warnings || []).map((w) => el('li', { class: 'bad' }, w)), (p.remarks || []).map((r) => el('li', null, r))),
      p.digest ? el('p', { class: 'dim' }, 'digest: ', el('code', null, p.digest)) : el('span'),
      el('div', { class: 'buttons', role: 'toolbar', 'aria-label': 'Steps' }, previous, next, whole), note, el('ul', { class: 'list', id: 'actions' }),
    );
    go(-1);
  }

  function go(to) {
    if (!data.plan) return;
    step = Math.max(-1, Math.min(steps.length - 1, to));
    const s = steps[step];
    acting = new Set(s ? s.actions.map((a) => a.object) : []);
    $('previous').disabled = step < 0;
    $('next').disabled = step >= steps.length - 1;
    $('whole').disabled = step < 0;
    $('step').textContent = s ? s.name + ' (' + (step + 1) + ' of ' + steps.length + '): ' + count(s.actions.length, 'write') : 'The colours show what comes of the whole plan; Next steps through its ' + count(steps.length, steps.length > 0 ? steps[steps.length - 1].name.split(' ')[0] : 'wave') + '.';
    $('actions').replaceChildren(...(s ? few(s.actions, (a) => el('li', null, a.verb + ' ', link(objects[a.object]), el('span', { class: 'dim' }, ' by the ' + a.by + (a.because ? ': ' + a.because : '')))) : []).filter(Boolean));
    legend();
    drawnMap = null;
    if (chosen) describeTree();
    const first = s && s.actions.length > 0 ? objects[s.actions[0].object] : null;
    if (first) { reveal(first); bring(first); } else redraw();
  }

  // ---- Gaps, legend, search

  function showGaps() {
    const all = [...data.gaps.map((g) => [g, '']), ...data.unexamined.map((g) => [g, ', when the causes were looked for'])];
    if (all.length === 0 && data.complete) return;
    $('gaps').hidden = false;
    const what = data.complete ? ' could not be looked at; the plan does not depend on ' + (all.length === 1 ? 'it' : 'them') : ' could not be looked at: what is there is unknown, which is not absent' + (data.plan ? ', and the plan is the least that happens' : '');
    $('gaps').querySelector('summary').textContent = 'Incomplete: ' + count(all.length, 'type') + what;
    $('gaps').querySelector('ul').replaceChildren(...all.map(([g, during]) => el('li', null,
      (g.group ? g.resource + '.' + g.group : g.resource) + (g.namespace ? ' in ' + g.namespace : '') + during + ': ' + g.reason + (g.message ? ', ' + g.message : ''))));
  }

  function legend() {
    const counts = new Map();
    for (const o of objects) counts.set(word(o), (counts.get(word(o)) || 0) + 1);
    $('legend').replaceChildren(...[...counts].sort().map(([w, n]) => {
      const asked = 'is:' + w;
      const b = el('button', { type: 'button', 'aria-pressed': String(query === asked), onclick: () => { $('query').value = query === asked ? '' : asked; search(); } }, w + ' ' + n);
      b.style.setProperty('--of', 'var(--' + (paint[w] || 'quiet') + ')');
      return el('li', null, b);
    }));
  }

  function search() {
    query = $('query').value.trim().toLowerCase();
    const words = query.split(/\s+/).filter(Boolean), is = query.startsWith('is:') ? query.slice(3) : '';
    matches = [];
    match = -1;
    for (const o of objects) {
      o.matches = query !== '' && (is ? word(o) === is : words.every((w) => o.text.includes(w)));
      if (o.matches) matches.push(o);
    }
    found();
    legend();
    redraw();
  }
  const found = () => { $('found').textContent = query === '' ? '' : match < 0 ? count(matches.length, 'object').replace(/^0/, 'no') : match + 1 + ' of ' + matches.length; };

  function nextMatch(by) {
    if (matches.length === 0) return;
    match = match < 0 ? (by > 0 ? 0 : matches.length - 1) : (match + by + matches.length) % matches.length;
    found();
    select(matches[match]);
  }

  // ---- Input

  const keys = [
    ['← →', 'Owner, dependent (or columns of a block)'], ['↑ ↓', 'Previous, next object'], ['Home End', 'First, last object'], ['Enter', 'Collapse or expand'],
    ['e E', 'Collapse all, expand all'], ['/', 'Search; Enter and Shift+Enter go through what is found'], ['Esc', 'End the search'], ['+ −', 'Zoom; so do Ctrl and the wheel'], ['0', 'Show everything'],
    ['c', 'Center the selected object'], ['n p', 'Next, previous step of a plan'], ['?', 'These keys'],
  ];

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $('keys').open) return;
    const at = document.activeElement;
    if (at === $('query')) {
      if (event.key === 'Enter') { event.preventDefault(); nextMatch(event.shiftKey ? -1 : 1); }
      if (event.key === 'Escape') { event.preventDefault(); $('query').value = ''; search(); tree.focus(); }
      return;
    }
    const inGraph = at === tree || at === document.body;
    const keyed = {
      '/': () => { $('query').focus(); $('query').select(); }, '?': help, '+': () => zoom(1.25), '=': () => zoom(1.25), '-': () => zoom(0.8), '0': () => fit(), e: () => foldAll(false), E: () => foldAll(true),
      n: () => go(step + 1), p: () => go(step - 1), c: () => { if (chosen) { moveTo(chosen.x + W / 2 - size.w / 2 / view.z, chosen.y + H / 2 - size.h / 2 / view.z, view.z); } },
    };
    if (inGraph) {
      for (const key of ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End']) keyed[key] = () => walk(key);
      keyed.Enter = keyed[' '] = () => { if (chosen) { toggle(chosen); describeFold(); } };
      keyed.Escape = () => { $('query').value = ''; search(); };
    }
    if (keyed[event.key]) { event.preventDefault(); keyed[event.key](); }
  }

  function help() {
    $('keys').querySelector('dl').replaceChildren(...keys.flatMap(([key, does]) => [el('dt', null, key.split(' ').map((k) => el('kbd', null, k))), el('dd', null, does)]));
    $('keys').showModal();
  }

  const point = (event) => { const r = tree.getBoundingClientRect(); return { x: event.clientX - r.left, y: event.clientY - r.top }; };

  function objectAt(p) {
    const x = view.x + p.x / view.z, y = view.y + p.y / view.z;
    for (const o of shown) {
      if (o.kids.length > 0 && view.z >= 0.4 && Math.abs(x - (o.x + W + 2)) < 13 && Math.abs(y - (o.y + H / 2)) < 12) return { o, folds: true };
      if (x >= o.x && x <= o.x + W && y >= o.y && y <= o.y + H) return { o, folds: false };
    }
    return null;
  }

  const fingers = new Map();
  let dragged = 0;
  function listen() {
    document.addEventListener('keydown', pressed);
    $('query').addEventListener('input', search);
    $('find').addEventListener('submit', (event) => event.preventDefault());
    $('in').addEventListener('click', () => zoom(1.25));
    $('out').addEventListener('click', () => zoom(0.8));
    $('fit').addEventListener('click', () => fit());
    $('fold').addEventListener('click', () => foldAll(isFolded()));
    $('help').addEventListener('click', help);
    tree.addEventListener('wheel', (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      if (event.ctrlKey || event.metaKey) { zoom(Math.exp(-event.deltaY * unit * 0.004), point(event)); return; }
      moving = null;
      const across = event.shiftKey && event.deltaX === 0;
      Object.assign(view, bounded({ x: view.x + (across ? event.deltaY : event.deltaX) * unit / view.z, y: view.y + (across ? 0 : event.deltaY) * unit / view.z, z: view.z }));
      redraw();
    }, { passive: false });
    tree.addEventListener('pointerdown', (event) => {
      tree.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, point(event));
      dragged = fingers.size > 1 ? Infinity : 0;
    });
    tree.addEventListener('pointermove', (event) => {
      const was = fingers.get(event.pointerId);
      if (!was) return;
      const now = point(event);
      const apart = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
      const before = fingers.size === 2 ? apart() : 0;
      fingers.set(event.pointerId, now);
      dragged += Math.abs(now.x - was.x) + Math.abs(now.y - was.y);
      if (fingers.size === 2 && before > 0) { zoom(apart() / before, now); return; }
      if (dragged < 4) return;
      tree.classList.add('moving');
      moving = null;
      Object.assign(view, bounded({ x: view.x - (now.x - was.x) / view.z, y: view.y - (now.y - was.y) / view.z, z: view.z }));
      redraw();
    });
    const up = (event) => {
      if (!fingers.delete(event.pointerId)) return;
      tree.classList.remove('moving');
      if (dragged >= 4 || event.type === 'pointercancel') return;
      const hit = objectAt(point(event));
      if (!hit) return;
      if (hit.folds) { toggle(hit.o); describeFold(); } else select(hit.o, true);
    };
    tree.addEventListener('pointerup', up);
    tree.addEventListener('pointercancel', up);
    tree.addEventListener('dblclick', (event) => { const hit = objectAt(point(event)); if (hit && !hit.folds) { toggle(hit.o); describeFold(); } });
    tree.addEventListener('focus', redraw);
    map.addEventListener('pointerdown', (event) => {
      const r = map.getBoundingClientRect(), z = Math.min(200 / (width + 40), 132 / (height + 40));
      moveTo((event.clientX - r.left) / z - 20 - size.w / 2 / view.z, (event.clientY - r.top) / z - 20 - size.h / 2 / view.z, view.z);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', readInk);
    new ResizeObserver(resize).observe($('graph'));
  }

  let placed = false;
  function resize() {
    const r = tree.getBoundingClientRect(); // without the legend where that stands below
    size = { w: r.width, h: r.height, ratio: devicePixelRatio || 1 };
    canvas.width = Math.round(r.width * size.ratio);
    canvas.height = Math.round(r.height * size.ratio);
    drawnMap = null;
    if (!placed) { placed = true; fit(0.55); if (moving) { Object.assign(view, moving.to); moving = null; } }
    redraw();
  }

  // ---- Begin

  $('title').textContent = clean(data.title);
  $('title').title = clean('The cluster as it was at ' + data.made);
  showGaps();
  readInk();
  layout();
  showPlan();
  legend();
  describeFold();
  if (data.undiagnosed) $('says').textContent = clean('It is not known why objects still exist: ' + data.undiagnosed);
  if (roots.length > 0) select(roots.find((o) => o.root) || roots[0], true);
  listen();
  tree.classList.add('untouched'); // it has the focus for its keys, and a frame once one is pressed
  document.addEventListener('keydown', () => tree.classList.remove('untouched'), { once: true });
  tree.focus({ preventScroll: true });
})();
